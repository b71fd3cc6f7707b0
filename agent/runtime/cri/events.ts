/**
 * Changes as they happen. CRI has GetContainerEvents since 1.26; containerd has offered its own stream on the same socket for longer and
 * says more (out of memory). Where neither is, the listener is told to list every second.
 */
import type {RuntimeEvent} from '../runtime.ts';
import type {Channel, Method} from './channel.ts';
import {decode} from './codec.ts';
import {messages} from './messages.ts';

const containerdEvents: Method = {
  path: '/containerd.services.events.v1.Events/Subscribe',
  request: messages.SubscribeRequest,
  response: messages.Envelope,
};
const criEvents: Method = {
  path: '/runtime.v1.RuntimeService/GetContainerEvents',
  request: messages.Empty,
  response: messages.ContainerEvent,
};

const topics: Readonly<Record<string, RuntimeEvent['type']>> = {'/tasks/exit': 'exited', '/tasks/oom': 'oom', '/tasks/start': 'started'};
const filters = Object.keys(topics).map((topic) => `namespace==k8s.io,topic==${JSON.stringify(topic)}`);
const criTypes = [undefined, 'started', 'exited', 'removed'] as const;

/** As often as the reference's agent lists when it has no events. */
const listIntervalMs = 1000;
const reopenAfterMs = 500;
const unimplemented = 12;

type Source = 'containerd' | 'cri' | 'none';

export function watchEvents(channel: Channel, onEvent: (event: RuntimeEvent) => void, onLost: () => void): () => void {
  let stopped = false;
  let cancel = () => {};
  let timer: NodeJS.Timeout | undefined;

  const open = (source: Source): void => {
    if (stopped) return;
    if (source === 'none') {
      onLost();
      timer = setTimeout(() => open('none'), listIntervalMs);
      timer.unref();
      return;
    }
    const call = source === 'containerd' ? channel.stream(containerdEvents, {filters}) : channel.stream(criEvents, {});
    cancel = () => call.cancel();
    call.on('data', (value: Record<string, unknown>) => {
      const event = source === 'containerd' ? fromContainerd(value) : fromCri(value);
      if (event) onEvent(event);
    });
    let ended = false;
    const reopen = (code?: number): void => {
      if (ended || stopped) return;
      ended = true;
      const next: Source = code === unimplemented ? (source === 'containerd' ? 'cri' : 'none') : source;
      timer = setTimeout(() => open(next), next === source ? reopenAfterMs : 0);
      timer.unref();
    };
    call.on('error', (error: {code?: number}) => reopen(error.code));
    call.on('end', () => reopen());
    // What happened before the subscription stood is found by listing; the stream itself does not say when it stands.
    onLost();
  };
  open('containerd');
  return () => {
    stopped = true;
    clearTimeout(timer);
    cancel();
  };
}

function fromContainerd(envelope: Record<string, unknown>): RuntimeEvent | undefined {
  const type = topics[envelope.topic as string];
  const any = envelope.event as {value: Uint8Array} | undefined;
  if (!type || !any) return undefined;
  const {containerId, id} = decode(messages.TaskEvent, any.value) as {containerId: string; id: string};
  // The end of a command run in the container has an id of its own. Only an exit's second field is an id.
  if (type === 'exited' && id !== containerId) return undefined;
  return {type, id: containerId};
}

function fromCri({containerId, containerEventType}: Record<string, unknown>): RuntimeEvent | undefined {
  const type = criTypes[containerEventType as number];
  return type && {type, id: containerId as string};
}

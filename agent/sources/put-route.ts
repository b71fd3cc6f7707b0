/** `/manifests` of the agent's secure port: manifests by name, put, read, listed and taken away. docs/manifests.md says it for users. */
import type {IncomingMessage, ServerResponse} from 'node:http';
import {Refusal} from '../server/refusal.ts';
import {maxPutBytes} from './limits.ts';
import {type Entry, PutError, type PutSource} from './put.ts';

export interface PutCall {
  parts: readonly string[];
  request: IncomingMessage;
  response: ServerResponse;
  /** Undefined where nobody was asked who they are. */
  user: {name: string} | undefined;
}

const codes: Readonly<Record<PutError['reason'], number>> = {invalid: 400, conflict: 409, full: 507};
const anonymous = 'system:anonymous';

/** @throws Refusal */
export async function serveManifests(source: PutSource, {parts, request, response, user}: PutCall): Promise<void> {
  // Whoever may put a pod here has the machine: not even an agent that trusts everybody else trusts somebody without a name with that.
  if (!user || user.name === anonymous) throw new Refusal(401, 'Unauthorized: manifests need a client certificate or a token');
  const [, name, more] = parts;
  if (more !== undefined) throw new Refusal(404, '404 page not found\n');
  const {method} = request;
  if (name === undefined) {
    if (method !== 'GET') throw new Refusal(405, '405: Method Not Allowed');
    return send(response, 200, {items: source.list().map(summary)});
  }
  if (method === 'PUT') {
    const text = await bodyOf(request);
    try {
      const {entry, created} = await source.put(name, text);
      return send(response, created ? 201 : 200, summary(entry));
    } catch (error) {
      if (error instanceof PutError) throw new Refusal(codes[error.reason], error.message);
      throw error;
    }
  }
  if (method !== 'GET' && method !== 'DELETE') throw new Refusal(405, '405: Method Not Allowed');
  const entry = method === 'GET' ? source.get(name) : await source.remove(name);
  if (!entry) throw new Refusal(404, `manifest ${JSON.stringify(name)} does not exist`);
  if (method === 'DELETE') return send(response, 200, summary(entry));
  response.writeHead(200, {'content-type': 'application/yaml', 'content-length': entry.text.length});
  response.end(entry.text);
}

const summary = ({name, text, pods}: Entry): object => ({
  name,
  bytes: text.length,
  pods: pods.map(({metadata}) => ({namespace: metadata.namespace, name: metadata.name, uid: metadata.uid})),
});

function send(response: ServerResponse, status: number, value: object): void {
  const text = `${JSON.stringify(value)}\n`;
  response.writeHead(status, {'content-type': 'application/json', 'content-length': Buffer.byteLength(text)});
  response.end(text);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const tooLong = (): never => {
    throw new Refusal(413, `manifest is longer than ${maxPutBytes} bytes`);
  };
  if (Number(request.headers['content-length']) > maxPutBytes) tooLong();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > maxPutBytes) tooLong();
  }
  return Buffer.concat(chunks);
}

/** Logs that can be read, and waiting for what a source says, for tests. */
import type {Log} from '../pods/context.ts';
import type {Pod} from '../pods/pod.ts';

export interface ReadableLog extends Log {
  lines: string[];
}

export function readableLog(): ReadableLog {
  const lines: string[] = [];
  return {
    lines,
    error: (text, error) => void lines.push(`E ${text}${error === undefined ? '' : `: ${(error as Error).message}`}`),
    warn: (text) => void lines.push(`W ${text}`),
    info: () => {},
    debug: () => {},
  };
}

/** What was delivered last, by the names of pods; `next` resolves with the delivery after this one. */
export class Delivered {
  all: string[][] = [];
  #waiting: (() => void)[] = [];

  readonly deliver = (pods: readonly Pod[]): void => {
    this.all.push(pods.map(({metadata}) => metadata.name));
    for (const go of this.#waiting.splice(0)) go();
  };

  get last(): string[] | undefined {
    return this.all.at(-1);
  }

  async until(condition: (last: string[]) => boolean): Promise<void> {
    while (!this.last || !condition(this.last)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

export const manifestOf = (name: string, image = 'img'): string =>
  JSON.stringify({apiVersion: 'v1', kind: 'Pod', metadata: {name}, spec: {containers: [{name: 'c', image}]}});

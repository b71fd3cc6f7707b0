/** Pods from an URL, asked for again and again; the last good answer holds while there is no other. */
import http from 'node:http';
import https from 'node:https';
import type {Clock} from '../../shared/clock.ts';
import type {Log} from '../pods/context.ts';
import type {Pod} from '../pods/pod.ts';
import {maxManifestBytes} from './limits.ts';

export interface UrlSourceOptions {
  url: string;
  /** `name:value`; a name may come again. */
  headers: readonly string[];
  node: string;
  everyMs: number;
  clock: Clock;
  deliver(pods: Pod[]): void;
  log: Log;
}

const timeoutMs = 10_000;
/** Said again when it answers, and fails anew. */
const saidFailures = 3;

export class UrlSource {
  readonly #options: UrlSourceOptions;
  #cancel = (): void => {};
  #last: string | undefined;
  #failures = 0;
  #stopped = false;

  constructor(options: UrlSourceOptions) {
    this.#options = options;
  }

  start(): this {
    void this.#loop();
    return this;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #loop(): Promise<void> {
    await this.#read();
    if (!this.#stopped) this.#cancel = this.#options.clock.after(this.#options.everyMs, () => void this.#loop());
  }

  async #read(): Promise<void> {
    const {url, node, clock, deliver, log} = this.#options;
    try {
      const bytes = await get(url, headersOf(this.#options.headers));
      const text = bytes.toString();
      if (text !== this.#last) {
        if (text.trim() === '') deliver([]);
        else {
          const {readManifest} = await import('./manifest.ts');
          deliver(readManifest(bytes, {source: 'http', from: url, node, now: clock.now()}));
        }
        this.#last = text;
      }
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      if (this.#failures <= saidFailures) log.warn(`cannot read pods from ${url}: ${(error as Error).message}`);
      // Others must not wait for an URL that has never answered: their pods would not be cleared up.
      if (this.#last === undefined && this.#failures === 1) deliver([]);
    }
  }
}

function headersOf(list: readonly string[]): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (const header of list) {
    const colon = header.indexOf(':');
    const name = header.slice(0, colon).trim().toLowerCase();
    headers[name] = [...(headers[name] ?? []), header.slice(colon + 1).trim()];
  }
  return headers;
}

function get(url: string, headers: Record<string, string[]>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? https : http).get(url, {headers, agent: false}, (response) => {
      if (response.statusCode !== 200) {
        request.destroy();
        return reject(new Error(`HTTP ${response.statusCode}`));
      }
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxManifestBytes) response.destroy(new Error(`longer than ${maxManifestBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on('end', () => resolve(Buffer.concat(chunks)));
      response.on('error', reject);
    });
    // For all of it: a server that drips would never be given up.
    const timer = setTimeout(() => request.destroy(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
    request.on('close', () => clearTimeout(timer));
    request.on('error', reject);
  });
}

/** A few requests of a Kubernetes client, each with the time that it took. Nothing of ours: any server will do. */
import {Agent, type RequestOptions, request} from 'node:https';

export interface Target {
  /** With the stage's path, where there is one. */
  url: string;
  /** Asked for each request: signed tokens grow old. */
  token(): Promise<string>;
  /** For a certificate that nobody vouches for, as emulators have it. */
  insecure?: boolean;
}

export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says; the steps know what they look for
  object: any;
  ms: number;
}

export class Client {
  readonly #target: Target;
  readonly #agent: Agent;
  /** How often each verb was asked for. */
  readonly asked = new Map<string, number>();
  readonly #took = new Map<string, number[]>();

  constructor(target: Target) {
    this.#target = target;
    this.#agent = new Agent({keepAlive: true, rejectUnauthorized: !target.insecure});
  }

  /** `verb`: under which it is counted. */
  async ask(verb: string, method: string, path: string, body?: unknown, type = 'application/json'): Promise<Reply> {
    const options = await this.#options(method, path, type);
    const began = performance.now();
    return new Promise((done, fail) => {
      const sent = request(`${this.#target.url}${path}`, options, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (piece) => {
          text += piece;
        });
        answer.once('error', fail);
        answer.once('end', () => {
          const ms = performance.now() - began;
          this.asked.set(verb, (this.asked.get(verb) ?? 0) + 1);
          this.#took.set(verb, [...(this.#took.get(verb) ?? []), ms]);
          done({status: answer.statusCode ?? 0, object: parsed(text), ms});
        });
      });
      sent.once('error', fail);
      sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
    });
  }

  /** Calls back for each event of a watch until it is told to stop. Resolves when the head of the answer has come. */
  async watch(path: string, onEvent: (event: {type: string; object: {metadata: {name: string}}}) => void): Promise<() => void> {
    const options = await this.#options('GET', path, 'application/json');
    return new Promise((done, fail) => {
      const sent = request(`${this.#target.url}${path}`, options, (answer) => {
        if (answer.statusCode !== 200) fail(new Error(`watch: ${answer.statusCode}`));
        let rest = '';
        answer.setEncoding('utf8');
        answer.on('data', (piece: string) => {
          const lines = (rest + piece).split('\n');
          rest = lines.pop()!;
          for (const line of lines.filter(Boolean)) onEvent(JSON.parse(line));
        });
        answer.once('error', () => {});
        done(() => sent.destroy());
      });
      sent.once('error', fail);
      sent.end();
    });
  }

  percentile(verb: string, share: number): number {
    const sorted = [...(this.#took.get(verb) ?? [])].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #options(method: string, path: string, type: string): Promise<RequestOptions> {
    if (!path.startsWith('/')) throw new Error(`${path} is no path`);
    const headers = {authorization: `Bearer ${await this.#target.token()}`, accept: 'application/json', 'content-type': type};
    return {method, agent: this.#agent, headers};
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

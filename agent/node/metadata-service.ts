/**
 * The instance metadata service of EC2, version 2 only: a token first, then paths by it. It answers in milliseconds or not at all, so what
 * does not answer is asked again a few times and then given up with words about why that may be.
 */
import http from 'node:http';
import type {Clock} from '../../shared/clock.ts';

export interface MetadataOptions {
  /** `http://169.254.169.254` */
  endpoint: string;
  clock: Clock;
  timeoutMs?: number;
  /** Of one request; doubling from the first pause. */
  attempts?: number;
  firstPauseMs?: number;
}

/** It is not there, or does not want to talk; the message says what to do about it. */
export class MetadataError extends Error {}

const tokenSeconds = 21_600;
/** Renewed early: a request must not find it has just run out. */
const renewAfterMs = (tokenSeconds - 300) * 1000;
const maxAnswerBytes = 64 * 1024;
const tokenPath = '/latest/api/token';

export const defaultEndpoint = (env: Readonly<Record<string, string | undefined>>): string =>
  env.AWS_EC2_METADATA_SERVICE_ENDPOINT ||
  (env.AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE?.toLowerCase() === 'ipv6' ? 'http://[fd00:ec2::254]' : 'http://169.254.169.254');

interface Answer {
  code: number;
  text: string;
}

export class MetadataService {
  readonly #endpoint: string;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #attempts: number;
  readonly #firstPauseMs: number;
  #token: {text: string; at: number} | undefined;

  constructor({endpoint, clock, timeoutMs = 1_000, attempts = 5, firstPauseMs = 200}: MetadataOptions) {
    this.#endpoint = endpoint.replace(/\/$/, '');
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#attempts = attempts;
    this.#firstPauseMs = firstPauseMs;
  }

  /** `placement/region`, below /latest/meta-data/; undefined where the instance has no such thing. @throws MetadataError */
  async get(path: string): Promise<string | undefined> {
    for (let renewed = false; ; renewed = true) {
      const token = await this.#need();
      const {code, text} = await this.#ask('GET', `/latest/meta-data/${path}`, {'x-aws-ec2-metadata-token': token});
      if (code === 200) return text.trim();
      if (code === 404) return undefined;
      if (code !== 401 || renewed)
        throw new MetadataError(`the instance metadata service answers ${code} to ${path}: ${text.slice(0, 200)}`);
      // Ended early, by a change of the instance's options.
      this.#token = undefined;
    }
  }

  async #need(): Promise<string> {
    const now = this.#clock.now();
    if (this.#token && now - this.#token.at < renewAfterMs) return this.#token.text;
    const {code, text} = await this.#ask('PUT', tokenPath, {'x-aws-ec2-metadata-token-ttl-seconds': String(tokenSeconds)});
    if (code === 403) throw new MetadataError('the instance metadata service is switched off for this instance');
    if (code !== 200 || text.trim() === '')
      throw new MetadataError(
        `the instance metadata service at ${this.#endpoint} gives no token: ${code} ${text.slice(0, 200)}. Version 2 of it is needed`,
      );
    this.#token = {text: text.trim(), at: now};
    return this.#token.text;
  }

  async #ask(method: string, path: string, headers: Record<string, string>): Promise<Answer> {
    let problem = '';
    let pauseMs = this.#firstPauseMs;
    for (let attempt = 0; attempt < this.#attempts; attempt++) {
      if (attempt > 0) await new Promise<void>((resolve) => this.#clock.after(pauseMs, resolve));
      if (attempt > 0) pauseMs *= 2;
      try {
        const answer = await this.#once(method, path, headers);
        if (answer.code < 500 && answer.code !== 429) return answer;
        problem = `it answers ${answer.code}`;
      } catch (error) {
        problem = (error as Error).message;
      }
    }
    // Answers to the token's request do not travel further than the hop limit; other requests would.
    const hint = method === 'PUT' ? '. In a container the hop limit of the instance has to be at least 2' : '';
    throw new MetadataError(`the instance metadata service at ${this.#endpoint} cannot be reached: ${problem}${hint}`);
  }

  #once(method: string, path: string, headers: Record<string, string>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = http.request(`${this.#endpoint}${path}`, {
        method,
        headers: {...headers, ...(method === 'PUT' && {'content-length': '0'})},
      });
      // The whole of it, an answer that drips included.
      const cancel = this.#clock.after(this.#timeoutMs, () => request.destroy(new Error(`no answer in ${this.#timeoutMs} ms`)));
      const fail = (error: Error) => {
        cancel();
        reject(error);
      };
      request.on('error', fail);
      request.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          if (text.length > maxAnswerBytes) request.destroy(new Error('its answer is too long'));
        });
        response.on('error', fail);
        response.on('end', () => {
          cancel();
          resolve({code: response.statusCode ?? 0, text});
        });
      });
      request.end();
    });
  }
}

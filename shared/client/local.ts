/** The client interface over an API in the same process: the same path as any request, without HTTP. */
import type {Api} from '../api.ts';
import type {UserInfo} from '../auth/user.ts';
import type {Status} from '../errors.ts';
import {failure, StatusError} from '../errors.ts';
import {json, RequestingClient} from './requests.ts';

export class LocalClient extends RequestingClient {
  /** Of the requests from now on, where who makes them comes to an end; ms since the epoch. */
  deadline: number | undefined;
  readonly #api: Pick<Api, 'handle'>;
  readonly #user: UserInfo;
  readonly #userAgent: string;

  constructor(api: Pick<Api, 'handle'>, user: UserInfo, userAgent: string) {
    super();
    this.#api = api;
    this.#user = user;
    this.#userAgent = userAgent;
  }

  protected async send<T>(
    method: string,
    path: string,
    query: Record<string, string> = {},
    body?: unknown,
    contentType = json,
  ): Promise<T> {
    const response = await this.#api.handle({
      method,
      path,
      query: Object.entries(query),
      headers: {accept: json, 'user-agent': this.#userAgent, ...(body !== undefined && {'content-type': contentType})},
      user: this.#user,
      ...(this.deadline !== undefined && {deadline: this.deadline}),
      ...(body !== undefined && {body: Buffer.from(JSON.stringify(body))}),
    });
    const bytes = response.body instanceof Uint8Array ? response.body : new Uint8Array(0);
    const object = bytes.length > 0 ? JSON.parse(Buffer.from(bytes).toString()) : undefined;
    if (response.status < 400) return object;
    if (object?.kind === 'Status') throw new StatusError(object as Status);
    throw failure(response.status, '', `the server answered ${response.status}`);
  }
}

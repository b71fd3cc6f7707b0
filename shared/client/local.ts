/** The client interface over an API in the same process: the same path as any request, without HTTP. */
import type {Api} from '../api.ts';
import type {UserInfo} from '../auth/user.ts';
import type {Status} from '../errors.ts';
import {failure, StatusError} from '../errors.ts';
import type {KubeObject} from '../object.ts';
import {type ApplyOptions, applyPatch, applyQuery, type Client, type ListResult, type ResourcePath} from './client.ts';
import {pathOf} from './paths.ts';

const json = 'application/json';

export class LocalClient implements Client {
  readonly #api: Pick<Api, 'handle'>;
  readonly #user: UserInfo;
  readonly #userAgent: string;

  constructor(api: Pick<Api, 'handle'>, user: UserInfo, userAgent: string) {
    this.#api = api;
    this.#user = user;
    this.#userAgent = userAgent;
  }

  get<T extends KubeObject>(path: ResourcePath, name: string): Promise<T> {
    return this.#send('GET', pathOf(path, name));
  }

  list<T extends KubeObject>(path: ResourcePath, query: Record<string, string> = {}): Promise<ListResult<T>> {
    return this.#send('GET', pathOf(path), query);
  }

  create<T extends KubeObject>(path: ResourcePath, object: object, query: Record<string, string> = {}): Promise<T> {
    return this.#send('POST', pathOf(path), query, object);
  }

  update<T extends KubeObject>(path: ResourcePath, object: T, subresource = ''): Promise<T> {
    return this.#send('PUT', pathOf(path, object.metadata.name, subresource), {}, object);
  }

  patch<T extends KubeObject>(path: ResourcePath, name: string, contentType: string, body: unknown, subresource = ''): Promise<T> {
    return this.#send('PATCH', pathOf(path, name, subresource), {}, body, contentType);
  }

  apply<T extends KubeObject>(path: ResourcePath, object: KubeObject, options: ApplyOptions): Promise<T> {
    return this.#send('PATCH', pathOf(path, object.metadata.name, options.subresource), applyQuery(options), object, applyPatch);
  }

  async delete(path: ResourcePath, name: string, options?: Record<string, unknown>): Promise<void> {
    await this.#send('DELETE', pathOf(path, name), {}, options);
  }

  async #send<T>(method: string, path: string, query: Record<string, string> = {}, body?: unknown, contentType = json): Promise<T> {
    const response = await this.#api.handle({
      method,
      path,
      query: Object.entries(query),
      headers: {accept: json, 'user-agent': this.#userAgent, ...(body !== undefined && {'content-type': contentType})},
      user: this.#user,
      ...(body !== undefined && {body: Buffer.from(JSON.stringify(body))}),
    });
    const bytes = response.body instanceof Uint8Array ? response.body : new Uint8Array(0);
    const object = bytes.length > 0 ? JSON.parse(Buffer.from(bytes).toString()) : undefined;
    if (response.status < 400) return object;
    if (object?.kind === 'Status') throw new StatusError(object as Status);
    throw failure(response.status, '', `the server answered ${response.status}`);
  }
}

/** The client interface over an API in the same process: the same path as any request, without HTTP. */
import type {Api} from '../api.ts';
import type {UserInfo} from '../auth/user.ts';
import type {Status} from '../errors.ts';
import {failure, StatusError} from '../errors.ts';
import type {KubeObject} from '../object.ts';
import type {Client, ListResult, ResourcePath} from './client.ts';

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

  get(path: ResourcePath, name: string): Promise<KubeObject> {
    return this.#send('GET', pathOf(path, name)) as Promise<KubeObject>;
  }

  list(path: ResourcePath, query: Record<string, string> = {}): Promise<ListResult> {
    return this.#send('GET', pathOf(path), query) as Promise<unknown> as Promise<ListResult>;
  }

  create(path: ResourcePath, object: object, query: Record<string, string> = {}): Promise<KubeObject> {
    return this.#send('POST', pathOf(path), query, object);
  }

  update(path: ResourcePath, object: KubeObject, subresource = ''): Promise<KubeObject> {
    return this.#send('PUT', pathOf(path, object.metadata.name, subresource), {}, object);
  }

  patch(path: ResourcePath, name: string, contentType: string, body: unknown, subresource = ''): Promise<KubeObject> {
    return this.#send('PATCH', pathOf(path, name, subresource), {}, body, contentType);
  }

  async delete(path: ResourcePath, name: string, options?: Record<string, unknown>): Promise<void> {
    await this.#send('DELETE', pathOf(path, name), {}, options);
  }

  async #send(method: string, path: string, query: Record<string, string> = {}, body?: unknown, contentType = json): Promise<KubeObject> {
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

function pathOf({groupVersion, resource, namespace}: ResourcePath, name?: string, subresource?: string): string {
  const root = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
  const parts = [namespace ? `namespaces/${encodeURIComponent(namespace)}/${resource}` : resource];
  if (name) parts.push(encodeURIComponent(name));
  if (subresource) parts.push(subresource);
  return `${root}/${parts.join('/')}`;
}

/** What each call of the client interface is as a request. How a request reaches the API, and what is tried again, is the sender's. */
import type {KubeObject} from '../object.ts';
import {type ApplyOptions, applyPatch, applyQuery, type Client, type ListResult, type ResourcePath} from './client.ts';
import {pathOf} from './paths.ts';

export const json = 'application/json';

export abstract class RequestingClient implements Client {
  /** Answers with the document. @throws StatusError */
  protected abstract send<T>(
    method: string,
    path: string,
    query?: Record<string, string>,
    body?: unknown,
    contentType?: string,
  ): Promise<T>;

  get<T extends KubeObject>(path: ResourcePath, name: string): Promise<T> {
    return this.send('GET', pathOf(path, name));
  }

  list<T extends KubeObject>(path: ResourcePath, query: Record<string, string> = {}): Promise<ListResult<T>> {
    return this.send('GET', pathOf(path), query);
  }

  create<T extends KubeObject>(path: ResourcePath, object: object, query: Record<string, string> = {}): Promise<T> {
    return this.send('POST', pathOf(path), query, object);
  }

  update<T extends KubeObject>(path: ResourcePath, object: T, subresource = ''): Promise<T> {
    return this.send('PUT', pathOf(path, object.metadata.name, subresource), {}, object);
  }

  patch<T extends KubeObject>(path: ResourcePath, name: string, contentType: string, body: unknown, subresource = ''): Promise<T> {
    return this.send('PATCH', pathOf(path, name, subresource), {}, body, contentType);
  }

  apply<T extends KubeObject>(path: ResourcePath, object: KubeObject, options: ApplyOptions): Promise<T> {
    return this.send('PATCH', pathOf(path, object.metadata.name, options.subresource), applyQuery(options), object, applyPatch);
  }

  async delete(path: ResourcePath, name: string, options?: Record<string, unknown>): Promise<void> {
    await this.send('DELETE', pathOf(path, name), {}, options);
  }
}

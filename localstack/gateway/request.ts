/** A request as the API sees it. One small object per request: this is the hot path. */
import type {ApiRequest, Peer} from '../../shared/http/messages.ts';
import type {Target} from '../../shared/http/target.ts';

export class GatewayRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: ApiRequest['query'];
  readonly search: string;
  readonly headers: ApiRequest['headers'];
  readonly peer: Peer;
  body?: Uint8Array;
  upgrade?: true;
  #controller: AbortController | undefined;
  #gone = false;

  constructor(method: string, target: Target, headers: ApiRequest['headers'], peer: Peer) {
    this.method = method;
    this.path = target.path;
    this.query = target.query;
    this.search = target.search;
    this.headers = headers;
    this.peer = peer;
  }

  /** Made when first asked for: most requests are answered before anybody looks, and an AbortController costs more than they do. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#gone) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** The client is gone. */
  abandon(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#controller?.abort();
  }
}

/** Whether a body follows. Bodies of GET and HEAD are dropped unread, as the reference does. */
export const mayHaveBody = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

/** What requests said that come again as plain ones: authentication by a WebSocket's subprotocols looks for it. By their socket. */
export const connectionHeaders = new WeakMap<object, string>();

/** What an answer looks like to API Gateway, buffered or streamed: status and headers in its form, and a body that fits. */
import type {ApiResponse} from '../../shared/http/messages.ts';

export interface Head {
  statusCode: number;
  headers: Record<string, string>;
  multiValueHeaders?: Record<string, string[]>;
}

export interface ProxyResult extends Head {
  body: string;
  isBase64Encoded: boolean;
}

/** Lambda takes an answer of 6 MB, as the JSON that it is sent in; the rest is for the head. */
const maxBufferedBytes = 6 * 1024 * 1024 - 64 * 1024;
/** Longer texts go as base64: that grows by a third, where quotes in JSON may double. */
const maxTextBytes = 1024 * 1024;

const textual = /^(text\/|application\/(json|yaml|jwk-set\+json)\b)/;

export function headOf({status, headers}: ApiResponse): Head {
  const head: Head = {statusCode: status, headers: {}};
  for (const [name, value] of Object.entries(headers)) {
    if (Array.isArray(value)) head.multiValueHeaders = {...head.multiValueHeaders, [name]: value};
    else head.headers[name] = value;
  }
  return head;
}

/** Undefined when it is too long for a function that does not stream. */
export function proxyResult(response: ApiResponse, body: Uint8Array): ProxyResult | undefined {
  const head = headOf(response);
  const type = head.headers['content-type'] ?? '';
  const isText = body.length <= maxTextBytes && textual.test(type) && head.headers['content-encoding'] === undefined;
  const result = {
    ...head,
    body: Buffer.from(body.buffer, body.byteOffset, body.length).toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  };
  return result.body.length > maxBufferedBytes ? undefined : result;
}

/** What must hold of every answer, whatever was asked. */
import type {Status} from '../../shared/errors.ts';
import type {ApiRequest, ApiResponse} from '../../shared/http/messages.ts';
import {decodeProtobuf} from '../../shared/schema/protobuf/protobuf.ts';
import {parseYaml} from '../../shared/schema/yaml.ts';

/** Failures of the server that the reference has as well, by their words. */
const knownInternal = [
  /failed to allocate a serviceIP/,
  /failed to allocate a nodePort/,
  /failed to allocate requested HealthCheck NodePort/,
  /more than one PodDisruptionBudget/,
];

const statusDefaults = {group: '', version: 'v1', kind: 'Status'};

/** Why the answer is wrong; undefined when it is well. */
export function judge(request: ApiRequest, response: ApiResponse): string | undefined {
  const {status, headers} = response;
  if (!Number.isInteger(status) || status < 200 || status > 599) return `status ${status}`;
  if (headers['audit-id'] === undefined) return 'no audit id';
  for (const [name, value] of Object.entries(headers))
    for (const line of [value].flat())
      if (typeof line !== 'string' || /[\r\n\u0000]/.test(line)) return `header ${name} is ${JSON.stringify(line)}`;
  if (status < 400) return undefined;
  const bytes = response.body;
  // The errors that the reference says nothing about.
  if ((status === 404 || status === 406) && bytes === undefined && request.path.startsWith('/openapi/v')) return undefined;
  if (!(bytes instanceof Uint8Array)) return `an error ${status} without a body`;
  const contentType = String(headers['content-type'] ?? '');
  const text = Buffer.from(bytes).toString();
  if (contentType.startsWith('text/plain'))
    return /^404 page not found\n$|^internal server error: |check failed\n$/.test(text) ? undefined : `plain text: ${text.slice(0, 200)}`;
  let parsed: Partial<Status>;
  try {
    parsed = contentType.includes('protobuf')
      ? (decodeProtobuf(bytes, {defaults: statusDefaults}).object as unknown as Status)
      : contentType.includes('yaml')
        ? (parseYaml(bytes).value as unknown as Status)
        : JSON.parse(text);
  } catch (error) {
    return `unreadable ${contentType}: ${error}: ${text.slice(0, 200)}`;
  }
  if (parsed.kind !== 'Status' || parsed.status !== 'Failure') return `no Status: ${text.slice(0, 300)}`;
  if (parsed.code !== status) return `code ${parsed.code} in an answer ${status}`;
  if (!parsed.message || !parsed.reason) return `without reason or message: ${text.slice(0, 300)}`;
  if (status === 500 && !knownInternal.some((known) => known.test(parsed.message!))) return `internal error: ${parsed.message}`;
  return undefined;
}

/** Prototypes that a hostile key may have reached. */
export function polluted(): string | undefined {
  for (const [name, prototype] of Object.entries({Object: Object.prototype, Array: Array.prototype, Function: Function.prototype}))
    for (const key in prototype as object) return `${name}.prototype.${key}`;
  return ({} as Record<string, unknown>)['polluted'] === undefined ? undefined : 'Object.prototype.polluted';
}

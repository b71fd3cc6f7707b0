/** What a request is about, read from its method and path alone: the first step of every request. Follows apimachinery's RequestInfo. */
import type {Attributes, UserInfo} from '../auth/user.ts';
import {badRequest} from '../errors.ts';

export interface RequestInfo {
  isResourceRequest: boolean;
  /** Decoded, as authorizers and audit see it. */
  path: string;
  method: string;
  verb: string;
  /** `api` or `apis`; empty for everything else. */
  apiPrefix: string;
  /** `watch` or `proxy` before the resource: what old clients write for a verb. */
  marker: '' | 'watch' | 'proxy';
  group: string;
  version: string;
  namespace: string;
  resource: string;
  subresource: string;
  name: string;
  /** resource, name, subresource and whatever follows, without the namespace. */
  parts: readonly string[];
  fieldSelector: string;
  labelSelector: string;
}

const verbOfMethod = new Map(Object.entries({POST: 'create', GET: 'get', HEAD: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete'}));
/** Literal subresources of a namespace; anything else behind its name is a resource in it. */
const namespaceSubresources = new Set(['status', 'finalize']);

export function queryValue(query: readonly (readonly [string, string])[], name: string): string | undefined {
  for (const [key, value] of query) if (key === name) return value;
  return undefined;
}

export function requestInfo(method: string, rawPath: string, query: readonly (readonly [string, string])[]): RequestInfo {
  const path = decodePath(rawPath);
  const info: RequestInfo = {
    isResourceRequest: false,
    path,
    method,
    verb: method.toLowerCase(),
    apiPrefix: '',
    marker: '',
    group: '',
    version: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    parts: [],
    fieldSelector: '',
    labelSelector: '',
  };
  let parts = splitPath(path);
  if (parts.length < 3 || (parts[0] !== 'api' && parts[0] !== 'apis')) return info;
  if (parts[0] === 'apis') {
    if (parts.length < 4) return info;
    info.group = parts[1]!;
    info.version = parts[2]!;
    info.apiPrefix = 'apis';
    parts = parts.slice(3);
  } else {
    info.version = parts[1]!;
    info.apiPrefix = 'api';
    parts = parts.slice(2);
  }
  info.isResourceRequest = true;
  info.verb = verbOfMethod.get(method) ?? '';
  if (parts[0] === 'watch' || parts[0] === 'proxy') {
    if (parts.length < 2) throw badRequest(`unable to determine kind and namespace from url, ${path}`);
    info.verb = info.marker = parts[0];
    parts = parts.slice(1);
  }
  if (parts[0] === 'namespaces') {
    if (parts.length > 1) {
      info.namespace = parts[1]!;
      if (parts.length > 2 && !namespaceSubresources.has(parts[2]!)) parts = parts.slice(2);
    }
  }
  info.parts = parts;
  info.resource = parts[0] ?? '';
  info.name = parts[1] ?? '';
  info.subresource = info.verb === 'proxy' ? '' : (parts[2] ?? '');
  if (query.length > 0 && info.name === '' && (info.verb === 'get' || info.verb === 'watch' || info.verb === 'delete')) {
    info.fieldSelector = queryValue(query, 'fieldSelector') ?? '';
    info.labelSelector = queryValue(query, 'labelSelector') ?? '';
  }
  if (info.name === '' && info.verb === 'get') {
    info.verb = isTrue(queryValue(query, 'watch')) ? 'watch' : 'list';
    // A list or watch of one name is authorized like that object.
    const single = /^metadata\.name==?([^=,]+)$/.exec(info.fieldSelector);
    if (single) info.name = single[1]!;
  } else if (info.name === '' && info.verb === 'delete') info.verb = 'deletecollection';
  return info;
}

/** How query flags read: absent is false, `watch`, `watch=1` and `watch=true` are true, `0` and `false` are not. */
export const isTrue = (value: string | undefined): boolean => value !== undefined && value !== '0' && value.toLowerCase() !== 'false';

/** @throws StatusError 400 for a percent sign that escapes nothing. */
function decodePath(rawPath: string): string {
  if (!rawPath.includes('%')) return rawPath;
  try {
    return decodeURIComponent(rawPath);
  } catch {
    throw badRequest(`invalid URL escape in ${JSON.stringify(rawPath)}`);
  }
}

function splitPath(path: string): string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === 47) start++;
  while (end > start && path.charCodeAt(end - 1) === 47) end--;
  return start === end ? [] : path.slice(start, end).split('/');
}

export function attributesOf(info: RequestInfo, user: UserInfo): Attributes {
  return {
    user,
    verb: info.verb,
    isResourceRequest: info.isResourceRequest,
    namespace: info.namespace,
    apiGroup: info.group,
    apiVersion: info.version,
    resource: info.resource,
    subresource: info.subresource,
    name: info.name,
    path: info.path,
    ...(info.fieldSelector && {fieldSelector: info.fieldSelector}),
    ...(info.labelSelector && {labelSelector: info.labelSelector}),
  };
}

/**
 * log, exec, attach and portforward of a pod: checked as the reference does, then asked of the agent of its node; `proxy` is reverse-proxy.ts.
 * How bytes come from there is the affair of shared/nodes, which is loaded with the first request that has passed the checks.
 */
import {badRequest, failure, forbidden, genericError, internalError} from '../../errors.ts';
import type {ApiRequest, ApiResponse} from '../../http/messages.ts';
import {attributesOf, isTrue, queryValue} from '../../http/request-info.ts';
import type {KubeObject} from '../../object.ts';
import {type Handler, type RequestContext, subjectOf} from '../context.ts';
import {notAllowed} from '../dispatch.ts';
import {decodeImage} from '../encode.ts';
import {readStored} from '../get.ts';
import {asksForUpgrade, upgradeHeaders} from './forwarded-headers.ts';
import {logQuery} from './log-options.ts';
import {nodeOf} from './proxy-location.ts';
import {askRoad, dialRoad, discard} from './road.ts';

export const connect: Handler = async (context) => {
  const {subresource} = context.info;
  if (subresource === 'proxy') {
    refuseDryRun(context.request);
    const {proxy} = await import('./reverse-proxy.ts');
    return proxy(context);
  }
  return subresource === 'log' ? log(context) : session(context);
};

/** What an agent says of why it has no log is repeated up to here. */
const maxRefusalBytes = 50_000;

async function log(context: RequestContext): Promise<ApiResponse> {
  const {info, machine, request} = context;
  if (info.method !== 'GET') throw notAllowed();
  const query = logQuery(request.query, info.name);
  const pod = await podOf(context);
  const container = chooseContainer(pod, queryValue(request.query, 'container') ?? '');
  // Not bound yet: it has said nothing, and that is no error.
  if (!pod.spec.nodeName) return {status: 204, headers: {'cache-control': 'no-cache, private'}};
  const node = await nodeOf(machine, pod.spec.nodeName);
  const path = ['containerLogs', info.namespace, info.name, container].map(encodeURIComponent).join('/');
  const answer = await askRoad(
    await dialRoad(context, node, 'agent'),
    {method: 'GET', target: `/${path}${query && `?${query}`}`, headers: {host: node.metadata.name}},
    context,
  );
  if (answer.status < 200 || answer.status > 206) throw await refusalOf(answer, info.name);
  return {
    status: 200,
    headers: {'cache-control': 'no-cache, private', 'content-type': 'text/plain'},
    body: answer.body ?? new Uint8Array(),
  };
}

async function refusalOf({status, body}: ApiResponse, name: string): Promise<Error> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      pieces.push(piece);
      size += piece.length;
      if (size >= maxRefusalBytes) break;
    }
  } catch (error) {
    return internalError(error);
  }
  const text = Buffer.concat(pieces).subarray(0, maxRefusalBytes).toString();
  if (status === 500) return internalError(text);
  if (status === 400) return badRequest(text);
  const refusal = genericError(status, '', {group: '', resource: 'pods/log'}, name, text);
  // Its text is in the message, where it is meant for the client at all.
  delete refusal.status.details?.causes;
  return refusal;
}

/** exec, attach, portforward: an upgrade that goes through to the agent untouched. */
async function session(context: RequestContext): Promise<ApiResponse> {
  const {info, machine, request, user} = context;
  const verb = info.subresource;
  if (info.method !== 'GET' && info.method !== 'POST') throw notAllowed();
  refuseDryRun(request);
  // A browser's WebSocket is a GET, and being allowed to get is not being allowed to run something.
  if (info.verb !== 'create') {
    const {decision, reason} = await machine.authorizer.authorize({...attributesOf(info, user), verb: 'create'});
    if (decision !== 'allow') throw forbidden(subjectOf(context.resource), info.name, reason ?? '');
  }
  const pod = await podOf(context);
  const container = verb === 'portforward' ? '' : chooseContainer(pod, queryValue(request.query, 'container') ?? '');
  if (!pod.spec.nodeName) throw badRequest(`pod ${info.name} does not have a host assigned`);
  const node = await nodeOf(machine, pod.spec.nodeName);
  if (!request.upgrade || !asksForUpgrade(request.headers)) throw badRequest('Upgrade request required');
  const answer = await askRoad(
    await dialRoad(context, node, 'agent'),
    {method: info.method, target: sessionTarget(context, container), headers: upgradeHeaders(request)},
    context,
  );
  if (!answer.upgrade && answer.status < 400) {
    discard(answer);
    throw failure(500, '', `invalid upgrade response: status code ${answer.status}`);
  }
  return answer;
}

function sessionTarget({info, request}: RequestContext, container: string): string {
  const asked = new URLSearchParams();
  const flag = (from: string, to: string): void => {
    if (isTrue(queryValue(request.query, from))) asked.set(to, '1');
  };
  const {namespace, name, subresource} = info;
  const path = (...parts: string[]): string => {
    asked.sort();
    return `/${parts.map(encodeURIComponent).join('/')}${asked.size > 0 ? `?${asked}` : ''}`;
  };
  if (subresource === 'portforward') {
    const ports = request.query.filter(([key]) => key === 'ports').map(([, value]) => value);
    if (ports.length > 0) asked.set('port', ports.join(','));
    return path('portForward', namespace, name);
  }
  flag('stdin', 'input');
  flag('stdout', 'output');
  flag('stderr', 'error');
  flag('tty', 'tty');
  if (subresource === 'exec') for (const [key, value] of request.query) if (key === 'command') asked.append('command', value);
  return path(subresource, namespace, name, container);
}

const podOf = async (context: RequestContext): Promise<KubeObject> => decodeImage((await readStored(context, context.info.name)).image);

function chooseContainer(pod: KubeObject, container: string): string {
  const names = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) =>
    (pod.spec[field] ?? []).map((entry: {name: string}) => entry.name),
  );
  const {name} = pod.metadata;
  if (container === '') {
    if (pod.spec.containers.length === 1) return pod.spec.containers[0].name;
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
  if (!names.includes(container)) throw badRequest(`container ${container} is not valid for pod ${name}`);
  return container;
}

function refuseDryRun({query}: ApiRequest): void {
  if (query.some(([name]) => name === 'dryRun')) throw badRequest('dryRun is not supported');
}

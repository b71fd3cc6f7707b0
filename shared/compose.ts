/**
 * An API made of the parts that it is given: all of them for a server (create-api.ts), one verb's for a function. A request walks through
 * the rooms in this order: what is it about, who is it from, may it, then its handler; whatever goes wrong on the way becomes a Status.
 */
import type {Api, ApiOptions} from './api.ts';
import {type Assembly, assemble, type Rooms} from './assemble.ts';
import {auditIdOf} from './auth/audit.ts';
import {requireAllowed} from './auth/authorize.ts';
import {impersonates, wantedUser} from './auth/impersonation-headers.ts';
import {mastersGroup, type UserInfo} from './auth/user.ts';
import {LocalClient} from './client/local.ts';
import {type StatusError, tooLarge} from './errors.ts';
import {answerEndpoint, type Endpoints} from './http/endpoints/endpoint.ts';
import type {ApiRequest, ApiResponse} from './http/messages.ts';
import {negotiate, plainOffer, type Representation} from './http/negotiate.ts';
import {attributesOf, type RequestInfo, requestInfo} from './http/request-info.ts';
import {checkTimeout} from './http/request-timeout.ts';
import {statusOf} from './http/status.ts';
import {deprecationOf, warningHeaders} from './http/warnings.ts';
import {maxBodyBytes} from './limits.ts';
import type {Machine} from './registry/context.ts';
import {dispatch, type Handlers, notFoundPath} from './registry/dispatch.ts';
import type {Resource} from './registry/resource.ts';
import {encodeBody, headersFor} from './registry/respond.ts';
import {inSession} from './registry/session.ts';

export interface Parts extends Rooms {
  handlers?: Handlers;
  endpoints?(assembly: Assembly): Endpoints;
}

export interface Composed {
  assembly: Assembly;
  handle(request: ApiRequest): Promise<ApiResponse>;
  authenticate: Api['authenticate'];
  /** The API as system:masters, without HTTP. */
  client: LocalClient;
  /** Ends watches cleanly and follows the store no longer. Leaves it open. */
  close(): Promise<void>;
}

const ownUser: UserInfo = {name: 'system:apiserver', groups: [mastersGroup, 'system:authenticated']};

export function compose(options: ApiOptions, {handlers = {}, endpoints, ...rooms}: Parts): Composed {
  const assembly = assemble(options, rooms);
  const {machine} = assembly;
  const served: Served = {handlers, endpoints: endpoints?.(assembly) ?? {}};
  const handle = (request: ApiRequest): Promise<ApiResponse> =>
    handleRequest(assembly, served, options.user ? {user: options.user, ...request} : request);
  return {
    assembly,
    handle,
    authenticate: (given) => {
      const request = {...given, method: 'GET', path: '/', query: [], ...(options.user && {user: options.user})};
      const {begin} = machine.store;
      const who = async (): Promise<UserInfo> => assembly.authenticate(request);
      const info = requestInfo(request.method, request.path, request.query);
      return begin ? inSession(machine, begin, {info, resource: undefined}, who) : who();
    },
    client: new LocalClient({handle}, ownUser, 'kube-apiserver'),
    async close() {
      assembly.endWatches();
      await machine.hubs.close();
      await machine.caches.close();
      machine.collections.close();
    },
  };
}

interface Served {
  handlers: Handlers;
  endpoints: Endpoints;
}

async function handleRequest(assembly: Assembly, served: Served, request: ApiRequest): Promise<ApiResponse> {
  const {machine} = assembly;
  const trail: Trail = {warnings: [], flowControl: undefined, deprecation: undefined};
  let finished: ((code: number) => void) | undefined;
  let response: ApiResponse;
  try {
    const info = requestInfo(request.method, request.path, request.query);
    checkTimeout(info, request.query);
    const resource = info.isResourceRequest ? machine.catalogue.find(info.group, info.version, info.resource) : undefined;
    finished = machine.metrics.requestStarted(info, request.query, resource);
    const subject = {request, info, resource};
    const {begin} = machine.store;
    response = begin
      ? await inSession(machine, begin, subject, (own) => walk(assembly, own, served, subject, trail))
      : await walk(assembly, machine, served, subject, trail);
  } catch (error) {
    response = errorResponse(assembly, request, error);
  }
  finished?.(response.status);
  const {headers} = response;
  const {warnings, flowControl, deprecation} = trail;
  headers['audit-id'] = auditIdOf(request.headers);
  if (flowControl) Object.assign(headers, flowControl);
  if (deprecation) warnings.unshift(deprecation);
  if (warnings.length > 0) headers['warning'] = warningHeaders(warnings);
  return response;
}

/** What a request gathers on its way for the head of its answer, be that an error. */
interface Trail {
  warnings: string[];
  flowControl: Record<string, string> | undefined;
  deprecation: string | undefined;
}

interface About {
  request: ApiRequest;
  info: RequestInfo;
  resource: Resource | undefined;
}

/** Who is it, may it, and its handler. Walked again from the start when what it rested on has changed under way. */
async function walk(
  assembly: Assembly,
  machine: Machine,
  served: Served,
  {request, info, resource}: About,
  trail: Trail,
): Promise<ApiResponse> {
  const {warnings} = trail;
  warnings.length = 0;
  let user = await assembly.authenticate(request, (text) => warnings.push(text));
  if (impersonates(request.headers)) {
    const wanted = wantedUser(request.headers);
    if (wanted) ({user} = await assembly.impersonator.impersonate(wanted, attributesOf(info, user)));
  }
  const attributes = attributesOf(info, user);
  trail.flowControl = assembly.flowControlHeaders(attributes);
  const decision = requireAllowed(machine.authorizer, attributes);
  if (decision instanceof Promise) await decision;
  if (request.body && request.body.length > maxBodyBytes) throw tooLarge(`Request entity too large: limit is ${maxBodyBytes}`);
  if (!info.isResourceRequest) return answerEndpoint(served.endpoints, request, info);
  if (!resource) throw notFoundPath();
  trail.deprecation = deprecationOf(resource);
  if (trail.deprecation) {
    const {group, version, subresource} = info;
    if (subresource === '' || Object.hasOwn(resource.subresources, subresource))
      machine.metrics.requestedDeprecated({group, version, resource: resource.resource, subresource, removed_release: ''});
  }
  return dispatch(served.handlers, {machine, request, info, user, resource, warnings});
}

function errorResponse({log}: Assembly, request: ApiRequest, error: unknown): ApiResponse {
  const status = statusOf(error);
  if (status.status.code >= 500 && !status.status.details?.retryAfterSeconds)
    log.error({error: describe(error), method: request.method, path: request.path}, 'request failed');
  const representation = representationFor(request, status);
  return {
    status: status.status.code,
    headers: {...headersFor(representation), ...status.headers},
    body: encodeBody(representation, status.status),
  };
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

const indented: Representation = {format: 'json', contentType: 'application/json', pretty: true};

/** A client whose Accept cannot be met still gets to read why. */
function representationFor(request: ApiRequest, error: StatusError): Representation {
  try {
    return negotiate(request.headers, request.query, plainOffer);
  } catch {
    return error.status.code === 406 ? indented : {...indented, pretty: false};
  }
}

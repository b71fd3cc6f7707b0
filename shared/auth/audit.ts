/**
 * The seam for auditing: what is known of a request at each stage, in the form of audit.k8s.io/v1. Nothing is recorded by default; a
 * policy and its sinks plug in as an Auditor. Annotations are gathered wherever something is decided.
 */
import type {Json} from '../object.ts';
import type {Attributes, Decision, UserInfo} from './user.ts';

export const auditIdHeader = 'audit-id';

/** The id by which logs and clients name a request: the client's own, however long (the reference cuts nothing off), or a new one. */
export const auditIdOf = (headers: Readonly<Record<string, string | undefined>>): string => headers[auditIdHeader] || crypto.randomUUID();

export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';
export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse';

export interface AuditUser {
  username: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** An Event of audit.k8s.io/v1; times are RFC 3339 with microseconds. */
export interface AuditEvent {
  kind: 'Event';
  apiVersion: 'audit.k8s.io/v1';
  level: AuditLevel;
  auditID: string;
  stage: AuditStage;
  requestURI: string;
  verb: string;
  user: AuditUser;
  impersonatedUser?: AuditUser;
  sourceIPs?: readonly string[];
  userAgent?: string;
  objectRef?: {
    resource?: string;
    namespace?: string;
    name?: string;
    uid?: string;
    apiGroup?: string;
    apiVersion?: string;
    resourceVersion?: string;
    subresource?: string;
  };
  responseStatus?: {code: number; status?: string; message?: string; reason?: string};
  requestObject?: Json;
  responseObject?: Json;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations?: Readonly<Record<string, string>>;
}

export interface Auditor {
  /** How much is kept of a request; None for those that no rule speaks of. Asked once, when it is known who asks for what. */
  level(attributes: Attributes): {level: AuditLevel; omitStages?: readonly AuditStage[]};
  record(event: AuditEvent): void;
}

/** What accompanies one request. Rooms that decide something note it here. */
export class AuditTrail {
  readonly id: string;
  #annotations: Record<string, string> | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** The first value of a key stays, as in the reference. */
  annotate(key: string, value: string): void {
    this.#annotations ??= {};
    if (!(key in this.#annotations)) this.#annotations[key] = value;
  }

  decided({decision, reason = ''}: Decision): void {
    this.annotate('authorization.k8s.io/decision', decision === 'allow' ? 'allow' : 'forbid');
    this.annotate('authorization.k8s.io/reason', reason);
  }

  get annotations(): Readonly<Record<string, string>> | undefined {
    return this.#annotations;
  }
}

export interface AuditedRequest {
  trail: AuditTrail;
  attributes: Attributes;
  requestURI: string;
  user: UserInfo;
  impersonatedUser?: UserInfo;
  sourceIPs?: readonly string[];
  userAgent?: string;
  /** ms since the epoch. */
  receivedAt: number;
}

export interface AuditedResponse {
  code: number;
  status?: string;
  message?: string;
  reason?: string;
}

/** The event of one stage; `level` and bodies are the auditor's business. */
export function auditEvent(
  request: AuditedRequest,
  stage: AuditStage,
  level: AuditLevel,
  now: number,
  response?: AuditedResponse,
  bodies: {requestObject?: Json; responseObject?: Json} = {},
): AuditEvent {
  const {trail, attributes, impersonatedUser, sourceIPs, userAgent} = request;
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level,
    auditID: trail.id,
    stage,
    requestURI: request.requestURI,
    verb: attributes.verb,
    user: auditUser(request.user),
    ...(impersonatedUser && {impersonatedUser: auditUser(impersonatedUser)}),
    ...(sourceIPs && {sourceIPs}),
    ...(userAgent && {userAgent}),
    ...(attributes.isResourceRequest && {objectRef: objectRefOf(attributes)}),
    ...(response && {responseStatus: response}),
    ...bodies,
    requestReceivedTimestamp: microTime(request.receivedAt),
    stageTimestamp: microTime(now),
    ...(trail.annotations && {annotations: trail.annotations}),
  };
}

const auditUser = ({name, uid, groups, extra}: UserInfo): AuditUser => ({
  username: name,
  ...(uid && {uid}),
  ...(groups.length > 0 && {groups}),
  ...(extra && {extra}),
});

function objectRefOf({resource, namespace, name, apiGroup, apiVersion, subresource}: Attributes): NonNullable<AuditEvent['objectRef']> {
  return {
    ...(resource && {resource}),
    ...(namespace && {namespace}),
    ...(name && {name}),
    ...(apiGroup && {apiGroup}),
    ...(apiVersion && {apiVersion}),
    ...(subresource && {subresource}),
  };
}

const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

/** TokenRequest, the `token` subresource of a service account: a token for some audiences and some time, bound to an object if asked. */
import {badRequest, conflict, notFound} from '../../errors.ts';
import {type FieldError, goQuote, invalid, invalidObject} from '../../field-errors.ts';
import {pathSegment} from '../../kinds/common/names.ts';
import {rfc3339} from '../../kinds/common/time.ts';
import {type KubeObject, parseGroupVersion} from '../../object.ts';
import type {Review, ReviewContext} from './review.ts';

export const tokenRequestKind = {group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest'};

const minExpirationSeconds = 10 * 60;
const maxExpirationSeconds = 2 ** 32;
export const defaultExpirationSeconds = 3_600;
/** What kubelets ask for: such tokens live on for a year, so that a pod that never reads its token again is warned of, not cut off. */
const watchedExpirationSeconds = 3_607;
const extendedExpirationSeconds = 365 * 24 * 3_600;

export const tokenRequest: Review = async (context, request) => {
  const {namespace, name, now, tokens, issuer} = context;
  const {metadata, spec} = request;
  const mustMatch = (field: 'name' | 'namespace', wanted: string) => {
    const given = metadata[field];
    if (given && given !== wanted)
      throw invalidObject(tokenRequestKind, name, [
        invalid(`metadata.${field}`, given, `must match the service account ${field} if specified`),
      ]);
  };
  mustMatch('name', name);
  mustMatch('namespace', namespace);
  const account = await find(context, 'serviceaccounts', namespace, name);
  const uid = account.metadata.uid!;
  if (metadata.uid && metadata.uid !== uid)
    throw conflict(
      {group: tokenRequestKind.group, resource: tokenRequestKind.kind},
      name,
      `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`,
    );
  const audiences: readonly string[] = spec.audiences?.length ? spec.audiences : tokens.audiences;
  const expirationSeconds: number = spec.expirationSeconds ?? defaultExpirationSeconds;
  refuseExpiration(expirationSeconds);
  const bound = spec.boundObjectRef ? await boundObject(context, spec.boundObjectRef) : {};
  const isExtended =
    bound.pod !== undefined &&
    expirationSeconds === watchedExpirationSeconds &&
    audiences.every((audience) => tokens.audiences.includes(audience));
  const {token} = await issuer.issue(
    {namespace, serviceAccount: {name, uid}, ...bound},
    {
      audiences,
      now,
      expirationSeconds: isExtended ? extendedExpirationSeconds : expirationSeconds,
      ...(isExtended && {warnAfterSeconds: expirationSeconds}),
    },
  );
  return {
    kind: request.kind,
    apiVersion: request.apiVersion,
    metadata: {...metadata, name, namespace, uid, creationTimestamp: rfc3339(now)},
    spec: {audiences, expirationSeconds, boundObjectRef: spec.boundObjectRef ?? null},
    status: {token, expirationTimestamp: rfc3339(now + expirationSeconds * 1_000)},
  };
};

function refuseExpiration(seconds: number): void {
  const path = 'spec.expirationSeconds';
  const errors: FieldError[] = [];
  if (seconds < minExpirationSeconds) errors.push(invalid(path, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > maxExpirationSeconds) errors.push(invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds'));
  if (errors.length > 0) throw invalidObject(tokenRequestKind, '', errors);
}

interface Reference {
  name: string;
  uid?: string;
}

interface BoundObjectReference {
  kind?: string;
  apiVersion?: string;
  name?: string;
  uid?: string;
}

const boundTypes: Record<string, string> = {Pod: 'pods', Node: 'nodes', Secret: 'secrets'};

async function boundObject(
  context: ReviewContext,
  {kind = '', apiVersion = '', name = '', uid}: BoundObjectReference,
): Promise<{pod?: Reference; secret?: Reference; node?: Reference}> {
  const {group, version} = parseGroupVersion(apiVersion) ?? {group: '', version: ''};
  const type = group === '' && Object.hasOwn(boundTypes, kind) ? boundTypes[kind] : undefined;
  if (!type) throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  const object = await find(context, type, kind === 'Node' ? '' : context.namespace, name);
  if (kind === 'Pod' && object['spec']?.serviceAccountName !== context.name)
    throw badRequest(`cannot bind token for serviceaccount ${goQuote(context.name)} to pod running with different serviceaccount name.`);
  if (uid && uid !== object.metadata.uid)
    throw conflict(
      {group, resource: kind},
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  const reference: Reference = {name, ...(object.metadata.uid && {uid: object.metadata.uid})};
  if (kind === 'Node') return {node: reference};
  if (kind === 'Secret') return {secret: reference};
  const node = await nodeOf(context, object);
  return {pod: reference, ...(node && {node})};
}

/** Where the pod runs, for whom it may concern: by name alone when the node is not there. */
async function nodeOf(context: ReviewContext, pod: KubeObject): Promise<Reference | undefined> {
  const name: string = pod['spec']?.nodeName ?? '';
  if (name === '') return undefined;
  const node = await context.read('nodes', '', name);
  return {name, ...(node?.metadata.uid && {uid: node.metadata.uid})};
}

async function find(context: ReviewContext, type: string, namespace: string, name: string): Promise<KubeObject> {
  if (name === '') throw badRequest('Name parameter required.');
  const problems = pathSegment(name);
  if (problems.length > 0) throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`);
  const object = await context.read(type, namespace, name);
  if (!object) throw notFound({group: '', resource: type}, name);
  return object;
}

/** What a service-account token says: the standard claims, and under `kubernetes.io` whom it speaks for and what it is bound to. */
import {credentialIdKey, serviceAccountGroups, serviceAccountUser} from '../groups.ts';
import type {UserInfo} from '../user.ts';

export interface ObjectReference {
  name?: string;
  uid?: string;
}

/** Keys stand in the order in which the reference writes them. Times are seconds since the epoch. */
export interface Claims {
  aud?: string | string[];
  exp?: number;
  iat?: number;
  iss?: string;
  jti?: string;
  'kubernetes.io'?: {
    namespace?: string;
    node?: ObjectReference;
    pod?: ObjectReference;
    secret?: ObjectReference;
    serviceaccount?: ObjectReference;
    warnafter?: number;
  };
  nbf?: number;
  sub?: string;
}

/** A clock may be wrong by this much, on our side or on that of whoever issued the token. */
export const leewaySeconds = 60;

/** What is wrong with the times of a token now, in the reference's words. */
export function timeProblem({exp, nbf, iat}: Claims, nowSeconds: number): string | undefined {
  if (nbf !== undefined && nowSeconds + leewaySeconds < nbf) return 'service account token is not valid yet';
  if (exp !== undefined && nowSeconds - leewaySeconds > exp) return 'service account token has expired';
  if (iat !== undefined && nowSeconds + leewaySeconds < iat) return 'service account token is issued in the future';
  return undefined;
}

export const audiencesOf = ({aud}: Claims): readonly string[] => (aud === undefined ? [] : typeof aud === 'string' ? [aud] : aud);

export function userOf(claims: Claims): UserInfo {
  const {namespace = '', serviceaccount = {}, pod, node} = claims['kubernetes.io'] ?? {};
  const extra: Record<string, string[]> = {};
  const add = (key: string, value: string | undefined) => {
    if (value) extra[key] = [value];
  };
  if (claims.jti) add(credentialIdKey, `JTI=${claims.jti}`);
  if (node?.name) {
    add('authentication.kubernetes.io/node-name', node.name);
    add('authentication.kubernetes.io/node-uid', node.uid);
  }
  if (pod?.name && pod.uid) {
    add('authentication.kubernetes.io/pod-name', pod.name);
    add('authentication.kubernetes.io/pod-uid', pod.uid);
  }
  return {
    name: serviceAccountUser(namespace, serviceaccount.name ?? ''),
    ...(serviceaccount.uid && {uid: serviceaccount.uid}),
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length > 0 && {extra}),
  };
}

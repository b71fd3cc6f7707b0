/** Who a request is from, and what it wants to do: the words that authenticators, authorizers and audit share. */

export interface UserInfo {
  name: string;
  uid?: string;
  groups: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

export const anonymous: UserInfo = {name: 'system:anonymous', groups: ['system:unauthenticated']};
export const mastersGroup = 'system:masters';

/** What an authorizer is asked about. */
export interface Attributes {
  user: UserInfo;
  /** get list watch create update patch delete deletecollection, proxy, or the lower-case HTTP method of a non-resource request. */
  verb: string;
  isResourceRequest: boolean;
  /** Resource requests only; empty strings where they do not apply. */
  namespace: string;
  apiGroup: string;
  apiVersion: string;
  resource: string;
  subresource: string;
  name: string;
  /** Non-resource requests: the path. */
  path: string;
  fieldSelector?: string;
  labelSelector?: string;
}

export type Decision = {decision: 'allow' | 'deny' | 'no opinion'; reason?: string};

export interface Authorizer {
  authorize(attributes: Attributes): Decision | Promise<Decision>;
}

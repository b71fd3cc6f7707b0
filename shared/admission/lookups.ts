/** What admission may ask about other objects. Reads, no more; whoever assembles the machine answers them, from caches where it can. */
import type {Attributes as AccessAttributes} from '../auth/user.ts';
import type {KubeObject} from '../object.ts';

export type Maybe<T> = T | Promise<T>;

export interface Lookups {
  namespace(name: string): Maybe<KubeObject | undefined>;
  serviceAccount(namespace: string, name: string): Maybe<KubeObject | undefined>;
  limitRanges(namespace: string): Maybe<readonly KubeObject[]>;
  priorityClasses(): Maybe<readonly KubeObject[]>;
  storageClasses(): Maybe<readonly KubeObject[]>;
  ingressClasses(): Maybe<readonly KubeObject[]>;
  runtimeClass(name: string): Maybe<KubeObject | undefined>;
  node(name: string): Maybe<KubeObject | undefined>;
  pod(namespace: string, name: string): Maybe<KubeObject | undefined>;
  deviceClasses(): Maybe<readonly KubeObject[]>;
  resourceClaims(namespace: string): Maybe<readonly KubeObject[]>;
  /** Whether the authorizers allow this: some plugins ask for rights that the request itself does not name. */
  allowed(attributes: AccessAttributes): Maybe<boolean>;
}

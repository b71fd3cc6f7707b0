/** A write on its way into the store, as admission sees it, and what a plugin is. */
import type {UserInfo} from '../auth/user.ts';
import {forbidden, type StatusError} from '../errors.ts';
import type {KubeObject} from '../object.ts';
import type {Resource} from '../registry/resource.ts';
import type {Lookups, Maybe} from './lookups.ts';

export interface AdmissionAttributes {
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  resource: Resource;
  subresource: string;
  /** Empty for cluster-scoped resources. */
  namespace: string;
  name: string;
  /** What is to be stored: plugins of the mutate phase change it in place. Absent for DELETE. */
  object?: KubeObject;
  old?: KubeObject;
  user: UserInfo;
  dryRun: boolean;
  /** Wall time, ms since the epoch. */
  now: number;
  /** Adds a text for the Warning header. */
  warn?(text: string): void;
  /**
   * Charges the quotas of the namespace as billed; `prepare` is called where there are any. The write itself need not happen afterwards.
   * @throws StatusError what the billing throws; 409 when others are faster again and again.
   */
  charge?(prepare: () => Maybe<Billing>): Promise<void>;
}

/** What these quotas are to be charged. Asked again when they have changed meanwhile. @throws StatusError 403 */
export type Billing = (quotas: readonly KubeObject[]) => readonly Bill[];

export interface Bill {
  quota: KubeObject;
  /** Its whole usage then. */
  used: Readonly<Record<string, string>>;
}

export type Phase = 'mutate' | 'validate';

export interface Plugin {
  name: string;
  operations: readonly AdmissionAttributes['operation'][];
  /** Qualified names of the resources that it looks at; all when absent. */
  resources?: readonly string[];
  /** Subresources that it looks at besides the object itself. */
  subresources?: readonly string[];
  mutate?(attributes: AdmissionAttributes, lookups: Lookups): Maybe<void>;
  validate?(attributes: AdmissionAttributes, lookups: Lookups): Maybe<void>;
}

/** 403 in the words of admission. */
export function refuse({resource, name, object}: AdmissionAttributes, why: string): StatusError {
  const about = name || object?.metadata.name || object?.metadata.generateName || 'Unknown';
  return forbidden({group: resource.group, resource: resource.resource}, about, why);
}

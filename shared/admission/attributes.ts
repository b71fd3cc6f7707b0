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
  /** Stores a quota with what it is charged now. The write itself need not happen afterwards. */
  charge?(quota: KubeObject, used: Readonly<Record<string, string>>): Promise<Charged>;
}

/** `instead`: what stands there now, when somebody else was faster; absent when nothing does. */
export type Charged = {done: true} | {done: false; instead?: KubeObject};

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

/** Names of priority classes become numbers; there is one default at most. */
import type {KubeObject} from '../object.ts';
import {type AdmissionAttributes, type Plugin, refuse} from './attributes.ts';
import type {Lookups} from './lookups.ts';

export const priority: Plugin = {
  name: 'Priority',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods', 'priorityclasses.scheduling.k8s.io'],
  async mutate(attributes, lookups) {
    const {object, old, operation} = attributes;
    if (object?.kind !== 'Pod') return;
    object.spec ??= {};
    if (operation === 'CREATE') return resolve(attributes, object, lookups);
    for (const field of ['priority', 'preemptionPolicy']) if (old?.spec?.[field] !== undefined) object.spec[field] ??= old.spec[field];
  },
  async validate(attributes, lookups) {
    const {object, operation} = attributes;
    if (object?.kind !== 'PriorityClass' || !object.globalDefault) return;
    const present = defaultOf(await lookups.priorityClasses());
    if (present && (operation === 'CREATE' || present.metadata.name !== object.metadata.name))
      throw refuse(attributes, `PriorityClass ${present.metadata.name} is already marked as default. Only one default can exist`);
  },
};

/** Should there be several all the same, the lowest counts. */
const defaultOf = (classes: readonly KubeObject[]): KubeObject | undefined =>
  classes
    .filter(({globalDefault}) => globalDefault)
    .reduce<KubeObject | undefined>((low, one) => (low && low.value <= one.value ? low : one), undefined);

async function resolve(attributes: AdmissionAttributes, {spec}: KubeObject, lookups: Lookups): Promise<void> {
  const classes = await lookups.priorityClasses();
  const name: string = spec.priorityClassName ?? '';
  const chosen = name ? classes.find(({metadata}) => metadata.name === name) : defaultOf(classes);
  if (name && !chosen) throw refuse(attributes, `no PriorityClass with name ${name} was found`);
  const value: number = chosen?.value ?? 0;
  const policy: string | undefined = chosen ? chosen.preemptionPolicy : 'PreemptLowerPriority';
  if (chosen) spec.priorityClassName = chosen.metadata.name;
  const computed = (what: string): string =>
    `must not be provided in pod spec; priority admission controller computed ${what} from the given PriorityClass name`;
  if (spec.priority !== undefined && spec.priority !== null && spec.priority !== value)
    throw refuse(attributes, `the integer value of priority (${spec.priority}) ${computed(String(value))}`);
  spec.priority = value;
  if (policy === undefined) return;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy)
    throw refuse(attributes, `the string value of PreemptionPolicy (${spec.preemptionPolicy}) ${computed(policy)}`);
  spec.preemptionPolicy = policy;
}

/** Whether a slice of a pool is well formed: where its devices are, and the devices (device.validate.ts) or the counters that they share. */
import {type FieldError, invalid, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {label, subdomain} from '../common/checks.ts';
import {type GoField, goShape} from '../common/go-shape.ts';
import {entries, list, type Part} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';
import {nodeSelector} from '../common/scheduling.ts';
import {csiDriverName} from '../common/volume-sources.ts';
import {validateSet} from './collections.validate.ts';
import {validateCounters} from './counters.validate.ts';
import {validateDevice} from './device.validate.ts';
import {poolName} from './names.validate.ts';

const maxDevices = 128;
/** Devices that are tainted, counted or listed take more room. */
const maxRichDevices = 64;
const maxCounterSets = 8;
const listAttributes = ['bools', 'ints', 'strings', 'versions'];
const exactlyOne = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

export const validateResourceSlice = (object: KubeObject): FieldError[] => validate(object);
export const validateResourceSliceUpdate = (object: KubeObject, old: KubeObject): FieldError[] => validate(object, old);

function validate({spec: given}: KubeObject, old?: KubeObject): FieldError[] {
  const spec = given ?? {};
  const before = old?.spec;
  const errors = [...csiDriverName(spec.driver ?? '', 'spec.driver'), ...validatePool(spec.pool ?? {}, 'spec.pool')];
  if (before)
    errors.push(
      ...validateImmutable(spec.pool?.name, before.pool?.name, 'spec.pool.name'),
      ...validateImmutable(spec.driver, before.driver, 'spec.driver'),
      ...validateImmutable(spec.nodeName, before.nodeName, 'spec.nodeName'),
    );
  errors.push(...validatePlace(spec));
  const devices = list(spec.devices);
  if (spec.sharedCounters && spec.devices) errors.push(invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed'));
  const oldDevice = (name: string): Part => list(before?.devices).find((device) => device.name === name);
  const check = (device: Part, path: string): FieldError[] =>
    validateDevice(device, path, spec.perDeviceNodeSelection === true, oldDevice(device.name));
  const most = devices.some(isRich) ? maxRichDevices : maxDevices;
  return [
    ...errors,
    ...validateSet(devices, most, 'spec.devices', ({name}) => name ?? '', check),
    ...validateSet(spec.sharedCounters, maxCounterSets, 'spec.sharedCounters', ({name}) => name ?? '', validateCounterSet),
  ];
}

const isRich = ({taints, consumesCounters, attributes}: Part): boolean =>
  list(taints).length > 0 ||
  list(consumesCounters).length > 0 ||
  entries(attributes).some(([, attribute]) => listAttributes.some((field) => attribute[field] !== undefined));

function validatePool({name = '', resourceSliceCount = 0, generation = 0}: Part, path: string): FieldError[] {
  const errors = poolName(name, `${path}.name`);
  if (resourceSliceCount <= 0) errors.push(invalid(`${path}.resourceSliceCount`, resourceSliceCount, 'must be greater than zero'));
  if (generation < 0) errors.push(invalid(`${path}.generation`, generation, 'must be greater than or equal to zero'));
  return errors;
}

const requirement: readonly GoField[] = [
  ['Key', 'key', ''],
  ['Operator', 'operator', ''],
  ['Values', 'values', null],
];
const nodeTerm: readonly GoField[] = [
  ['MatchExpressions', 'matchExpressions', null, requirement],
  ['MatchFields', 'matchFields', null, requirement],
];

/** A node, nodes by their labels, all nodes, or each device for itself. */
function validatePlace({nodeName, nodeSelector: selector, allNodes, perDeviceNodeSelection}: Part): FieldError[] {
  const errors: FieldError[] = [];
  const set: string[] = [];
  if (nodeName) {
    set.push('`nodeName`');
    errors.push(...subdomain(nodeName, 'spec.nodeName'));
  } else if (nodeName === '') errors.push(invalid('spec.nodeName', '', 'must be either unset or set to a non-empty string'));
  if (selector) {
    set.push('`nodeSelector`');
    errors.push(...nodeSelector(selector, 'spec.nodeSelector'));
    const terms = list(selector.nodeSelectorTerms);
    if (terms.length !== 1)
      errors.push(
        invalid(
          'spec.nodeSelector.nodeSelectorTerms',
          goShape(selector.nodeSelectorTerms, nodeTerm),
          'must have exactly one node selector term',
        ),
      );
  }
  for (const [field, value] of Object.entries({allNodes, perDeviceNodeSelection})) {
    if (value) set.push(`\`${field}\``);
    else if (value === false) errors.push(invalid(`spec.${field}`, false, 'must be either unset or set to true'));
  }
  if (set.length === 0) errors.push(required('spec', exactlyOne));
  if (set.length > 1) errors.push(invalid('spec', `{${set.join(', ')}}`, `${exactlyOne}, but multiple fields are set`));
  return errors;
}

const validateCounterSet = ({name, counters}: Part, path: string): FieldError[] => [
  ...(name ? label(name, `${path}.name`) : [required(`${path}.name`)]),
  ...validateCounters(counters, `${path}.counters`),
];

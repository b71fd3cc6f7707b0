/** Whether a device of a slice is well formed: attributes, capacities (capacity.validate.ts), taints, counters, and its place. */
import {type FieldError, invalid, required, tooLong} from '../../field-errors.ts';
import {label, subdomain} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {entries, list, type Part} from '../common/loose.ts';
import {byteLength} from '../common/names.ts';
import {nodeSelector} from '../common/scheduling.ts';
import {validateCapacity} from './capacity.validate.ts';
import {validateList, validateMap, validateSet} from './collections.validate.ts';
import {validateCounters} from './counters.validate.ts';
import {maxQualifiedBytes, qualifiedName} from './names.validate.ts';
import {validateBindingConditions, validateTaint} from './taints.validate.ts';

const maxAttributesAndCapacities = 32;
const maxAttributeValues = 48;
const maxValueBytes = 64;
const maxTaints = 16;
const maxConsumptions = 2;
const unbounded = Number.POSITIVE_INFINITY;

export function validateDevice(device: Part, path: string, ownPlace: boolean, old: Part): FieldError[] {
  const errors = label(device.name ?? '', `${path}.name`);
  const count = entries(device.attributes).length + entries(device.capacity).length;
  if (count > maxAttributesAndCapacities)
    errors.push(invalid(path, count, `the total number of attributes and capacities must not exceed ${maxAttributesAndCapacities}`));
  const values = entries(device.attributes).reduce((sum, [, attribute]) => sum + valuesOf(attribute), 0);
  if (values > maxAttributeValues)
    errors.push(invalid(path, values, `the total number of attribute values must not exceed ${maxAttributeValues}`));
  const names = (field: string) => ({most: unbounded, longestKey: maxQualifiedBytes, path: `${path}.${field}`});
  const isShared = device.allowMultipleAllocations === true;
  return [
    ...errors,
    ...validateMap(device.attributes, names('attributes'), qualifiedName, validateAttribute),
    ...validateMap(device.capacity, names('capacity'), qualifiedName, (capacity, at) => validateCapacity(capacity, at, isShared)),
    ...(old && sameJson(old.taints, device.taints) ? [] : validateList(device.taints, maxTaints, `${path}.taints`, validateTaint)),
    ...validateSet(
      device.consumesCounters,
      maxConsumptions,
      `${path}.consumesCounters`,
      ({counterSet}) => counterSet ?? '',
      ({counterSet, counters}, at) => [
        ...(counterSet ? label(counterSet, `${at}.counterSet`) : [required(`${at}.counterSet`)]),
        ...validateCounters(counters, `${at}.counters`),
      ],
    ),
    ...validatePlace(device, path, ownPlace),
    ...validateBindingConditions(device, path),
  ];
}

const listFields = ['bools', 'ints', 'strings', 'versions'];
const fields = ['bool', 'int', 'string', 'version', ...listFields];

const valuesOf = (attribute: Part): number => listFields.reduce((sum, field) => sum + list(attribute[field]).length, 0) || 1;

function validateAttribute(attribute: Part, path: string): FieldError[] {
  const {string, version, strings, versions} = attribute;
  const errors: FieldError[] = [];
  if (string !== undefined) errors.push(...validateText(string, `${path}.string`));
  if (version !== undefined) errors.push(...validateVersion(version, `${path}.version`));
  for (const field of listFields)
    if (attribute[field]?.length === 0) errors.push(invalid(`${path}.${field}`, attribute[field], 'must not be empty if specified'));
  errors.push(...list(strings).flatMap((item, index) => validateText(item, `${path}.strings[${index}]`)));
  errors.push(...list(versions).flatMap((item, index) => validateVersion(item, `${path}.versions[${index}]`)));
  const set = fields.filter((field) => attribute[field] !== undefined).length;
  if (set === 1) return errors;
  return [...errors, invalid(path, set === 0 ? '' : shown(attribute), 'exactly one value must be specified')];
}

const shown = ({bool, int, string, version}: Part) => ({
  IntValue: int ?? null,
  BoolValue: bool ?? null,
  StringValue: string ?? null,
  VersionValue: version ?? null,
});

const validateText = (text: string, path: string): FieldError[] => (byteLength(text) > maxValueBytes ? [tooLong(path, maxValueBytes)] : []);

const numeric = '(0|[1-9]\\d*)';
const preRelease = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
const build = '[0-9a-zA-Z-]+';
const semantic = new RegExp(`^${numeric}\\.${numeric}\\.${numeric}(-${preRelease}(\\.${preRelease})*)?(\\+${build}(\\.${build})*)?$`);

const validateVersion = (version: string, path: string): FieldError[] => [
  ...(semantic.test(version) ? [] : [invalid(path, version, 'must be a string compatible with semver.org spec 2.0.0')]),
  ...validateText(version, path),
];

/** A device tells its own place only if the slice says so. */
function validatePlace({nodeName, nodeSelector: selector, allNodes}: Part, path: string, ownPlace: boolean): FieldError[] {
  const when = '`perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  if (!ownPlace) {
    const isSet = nodeName !== undefined || selector !== undefined || allNodes !== undefined;
    return isSet ? [invalid(path, null, `\`nodeName\`, \`nodeSelector\` and \`allNodes\` can only be set if ${when}`)] : [];
  }
  const errors: FieldError[] = [];
  const set: string[] = [];
  if (nodeName) {
    set.push('`nodeName`');
    errors.push(...subdomain(nodeName, `${path}.nodeName`));
  } else if (nodeName === '') errors.push(invalid(`${path}.nodeName`, '', 'must not be empty'));
  if (selector) {
    set.push('`nodeSelector`');
    errors.push(...nodeSelector(selector, `${path}.nodeSelector`));
  }
  if (allNodes) set.push('`allNodes`');
  else if (allNodes === false) errors.push(invalid(`${path}.allNodes`, false, 'must be either unset or set to true'));
  const words = `exactly one of \`nodeName\`, \`nodeSelector\`, or \`allNodes\` is required when ${when}`;
  if (set.length === 0) errors.push(required(path, words));
  if (set.length > 1) errors.push(invalid(path, `{${set.join(', ')}}`, words));
  return errors;
}

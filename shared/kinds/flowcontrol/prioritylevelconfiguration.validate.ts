/** Whether a priority level is well formed: exempt, or limited with a way to answer what is too much. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {sameJson} from '../common/equal.ts';
import type {Part} from '../common/loose.ts';
import {inRange} from '../common/names.ts';
import {mandatoryPriorityLevels} from './mandatory.validate.ts';
import {validateStatus} from './status.validate.ts';

const zeroSharesAnnotation = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
const maxQueues = 10_000_000;
/** A hash of this length deals the hands. */
const maxHashBits = 60;
const notNegativeInteger = 'must be a non-negative integer';

export function validatePriorityLevelConfiguration({metadata, spec: given, status}: KubeObject): FieldError[] {
  const spec = given ?? {};
  const errors: FieldError[] = [];
  if (metadata.annotations && zeroSharesAnnotation in metadata.annotations)
    errors.push(fieldForbidden('metadata.annotations', `annotation '${zeroSharesAnnotation}' is forbidden`));
  errors.push(...validateSpec(metadata.name ?? '', spec), ...keptMandatory(metadata.name ?? '', spec));
  return [...errors, ...validateStatus(status)];
}

export const validatePriorityLevelConfigurationUpdate = (object: KubeObject, _old: KubeObject, subresource = ''): FieldError[] =>
  subresource === 'status' ? validateStatus(object.status) : validatePriorityLevelConfiguration(object);

function keptMandatory(name: string, spec: Part): FieldError[] {
  const fixed = Object.hasOwn(mandatoryPriorityLevels, name) ? mandatoryPriorityLevels[name] : undefined;
  if (!fixed) return [];
  const {exempt, ...rest} = spec;
  if (name === 'exempt')
    return sameJson(rest, fixed)
      ? []
      : [invalid('spec', spec, `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`)];
  return sameJson(spec, fixed) ? [] : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)];
}

function validateSpec(name: string, {type = '', exempt, limited}: Part): FieldError[] {
  const errors: FieldError[] = [];
  if ((name === 'exempt') !== (type === 'Exempt'))
    errors.push(invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  if (type === 'Exempt') {
    if (limited) errors.push(fieldForbidden('spec.limited', 'must be nil if the type is not Limited'));
    if (exempt) errors.push(...validateExempt(exempt));
  } else if (type === 'Limited') {
    if (exempt) errors.push(fieldForbidden('spec.exempt', 'must be nil if the type is Limited'));
    errors.push(...(limited ? validateLimited(limited) : [required('spec.limited', 'must not be empty when type is Limited')]));
  } else errors.push(type ? notSupported('spec.type', type, ['Exempt', 'Limited']) : required('spec.type'));
  return errors;
}

const percent = (value: number | undefined, path: string): FieldError[] =>
  value !== undefined && (value < 0 || value > 100) ? [invalid(path, value, inRange(0, 100))] : [];

const validateExempt = ({nominalConcurrencyShares: shares, lendablePercent}: Part): FieldError[] => [
  ...(shares < 0 ? [invalid('spec.exempt.nominalConcurrencyShares', shares, notNegativeInteger)] : []),
  ...percent(lendablePercent, 'spec.exempt.lendablePercent'),
];

function validateLimited({nominalConcurrencyShares: shares, limitResponse, lendablePercent, borrowingLimitPercent: borrowed}: Part) {
  const path = 'spec.limited';
  return [
    ...(shares < 0 ? [invalid(`${path}.nominalConcurrencyShares`, shares, notNegativeInteger)] : []),
    ...validateResponse(limitResponse ?? {}, `${path}.limitResponse`),
    ...percent(lendablePercent, `${path}.lendablePercent`),
    ...(borrowed < 0 ? [invalid(`${path}.borrowingLimitPercent`, borrowed, `if specified, ${notNegativeInteger}`)] : []),
  ];
}

function validateResponse({type, queuing}: Part, path: string): FieldError[] {
  if (type === 'Reject')
    return queuing ? [fieldForbidden(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')] : [];
  if (type === 'Queue') {
    if (queuing) return validateQueuing(queuing, `${path}.queuing`);
    return [required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')];
  }
  return [type ? notSupported(`${path}.type`, type, ['Queue', 'Reject']) : required(`${path}.type`)];
}

function validateQueuing({queueLengthLimit = 0, queues = 0, handSize = 0}: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (queueLengthLimit <= 0) errors.push(invalid(`${path}.queueLengthLimit`, queueLengthLimit, 'must be positive'));
  if (queues <= 0) errors.push(invalid(`${path}.queues`, queues, 'must be positive'));
  else if (queues > maxQueues) errors.push(invalid(`${path}.queues`, queues, `must not be greater than ${maxQueues}`));
  const wrongHand = (detail: string) => errors.push(invalid(`${path}.handSize`, handSize, detail));
  if (handSize <= 0) wrongHand('must be positive');
  else if (handSize > queues) wrongHand(`should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * handSize) > maxHashBits)
    wrongHand(`required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxHashBits}`);
  return errors;
}

/** What the access reviews have in common: their rules, the question that they put to the authorizers, and the answer. */
import type {Attributes, Authorizer, UserInfo} from '../../auth/user.ts';
import {type FieldError, fieldForbidden, invalid, invalidObject, required} from '../../field-errors.ts';
import {qualifiedName, validLabelValue} from '../../kinds/common/names.ts';
import type {KubeObject} from '../../object.ts';
import {parseFieldSelector} from '../../selector/fields.ts';
import {parseLabelSelector} from '../../selector/labels.ts';
import {orderedMeta} from '../encode.ts';

interface Requirement {
  key?: string;
  operator?: string;
  values?: readonly string[];
}

interface Selector {
  rawSelector?: string;
  requirements?: readonly Requirement[];
}

/** The reference leaves the kind out of these errors. */
const unnamedKind = {group: 'authorization.k8s.io', kind: ''};

/** @throws StatusError 422 when there are any */
export function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(unnamedKind, '', errors);
}

/** Go names the fields of the internal type, which have no JSON names. */
export const printedNonResource = (attributes: {path?: string; verb?: string} | undefined): object | undefined =>
  attributes && {Path: attributes.path ?? '', Verb: attributes.verb ?? ''};

/** Exactly one of the two kinds of question. */
export function attributeErrors({resourceAttributes, nonResourceAttributes}: KubeObject['spec']): FieldError[] {
  if (resourceAttributes && nonResourceAttributes)
    return [
      invalid(
        'spec.nonResourceAttributes',
        printedNonResource(nonResourceAttributes),
        'cannot be specified in combination with resourceAttributes',
      ),
    ];
  if (!resourceAttributes && !nonResourceAttributes)
    return [invalid('spec.resourceAttributes', undefined, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')];
  return [];
}

export function subjectErrors({user, groups}: KubeObject['spec']): FieldError[] {
  return user || groups?.length ? [] : [invalid('spec.user', '', 'at least one of user or group must be specified')];
}

export function selectorErrors({resourceAttributes}: KubeObject['spec']): FieldError[] {
  const path = 'spec.resourceAttributes';
  return [
    ...oneSelector(resourceAttributes?.fieldSelector, `${path}.fieldSelector`, fieldRequirement),
    ...oneSelector(resourceAttributes?.labelSelector, `${path}.labelSelector`, labelRequirement),
  ];
}

function oneSelector(
  selector: Selector | null | undefined,
  path: string,
  check: (requirement: Requirement, path: string) => FieldError[],
): FieldError[] {
  if (!selector) return [];
  const {rawSelector = '', requirements = []} = selector;
  const errors: FieldError[] = [];
  if (rawSelector && requirements.length > 0)
    errors.push(invalid(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'));
  if (!rawSelector && requirements.length === 0)
    errors.push(required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`));
  return [...errors, ...requirements.flatMap((requirement, index) => check(requirement, `${path}.requirements[${index}]`))];
}

function fieldRequirement(requirement: Requirement, path: string): FieldError[] {
  return [...(requirement.key ? [] : [required(`${path}.key`, 'must be specified')]), ...operatorErrors(requirement, path)];
}

function labelRequirement(requirement: Requirement, path: string): FieldError[] {
  const {key = '', values = []} = requirement;
  return [
    ...operatorErrors(requirement, path),
    ...qualifiedName(key).map((text) => invalid(`${path}.key`, key, text)),
    ...values.flatMap((value, index) => validLabelValue(value).map((text) => invalid(`${path}.values[${index}]`, value, text))),
  ];
}

/** An operator that is not known is let pass: a newer client may ask an older server. */
function operatorErrors({operator, values = []}: Requirement, path: string): FieldError[] {
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
    return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
    return [fieldForbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  return [];
}

/** A review has no name and nothing else of an object that is kept. */
export function metadataErrors({metadata}: KubeObject, words: string, allowed: readonly string[] = []): FieldError[] {
  const kept = Object.entries(metadata).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const isEmpty = kept.every(([field]) => field === 'managedFields' || allowed.includes(field));
  return isEmpty ? [] : [invalid('metadata', orderedMeta(metadata), words)];
}

/** The user that a SubjectAccessReview asks about. */
export function subjectOf({user = '', uid, groups, extra}: KubeObject['spec']): UserInfo {
  return {name: user, ...(uid && {uid}), groups: groups ?? [], ...(extra && {extra})};
}

/** Asks the authorizers, and writes their answer into the status. */
export async function answer(review: KubeObject, user: UserInfo, authorizer: Authorizer): Promise<KubeObject> {
  const {resourceAttributes: asked, nonResourceAttributes} = review['spec'];
  const attributes: Attributes = {
    user,
    verb: (asked ?? nonResourceAttributes).verb ?? '',
    isResourceRequest: Boolean(asked),
    namespace: asked?.namespace ?? '',
    apiGroup: asked?.group ?? '',
    apiVersion: asked ? asked.version || '*' : '',
    resource: asked?.resource ?? '',
    subresource: asked?.subresource ?? '',
    name: asked?.name ?? '',
    path: nonResourceAttributes?.path ?? '',
  };
  const {decision, reason} = await authorizer.authorize(attributes);
  const ignored = [
    ignoredSelector('fieldSelector', asked?.fieldSelector, readableField, isFieldSelector),
    ignoredSelector('labelSelector', asked?.labelSelector, readableLabel, isLabelSelector),
  ].filter((text) => text !== undefined);
  review['status'] = {
    allowed: decision === 'allow',
    ...(decision === 'deny' && {denied: true}),
    ...(reason && {reason}),
    ...(ignored.length > 0 && {evaluationError: ignored.join('; ')}),
  };
  return review;
}

/** Selectors narrow a question; what of them cannot be read is left out, and that is said. */
function ignoredSelector(
  field: string,
  selector: Selector | null | undefined,
  isReadable: (requirement: Requirement) => boolean,
  parses: (text: string) => boolean,
): string | undefined {
  if (!selector) return undefined;
  const {rawSelector = '', requirements = []} = selector;
  const readable = requirements.filter(isReadable).length;
  const whole = requirements.length > 0 ? readable === requirements.length : parses(rawSelector);
  if (whole) return undefined;
  return `spec.resourceAttributes.${field} ${readable > 0 ? 'partially ' : ''}ignored due to parse error`;
}

const readableField = ({operator, values = []}: Requirement): boolean => (operator === 'In' || operator === 'NotIn') && values.length === 1;
const readableLabel = ({operator = ''}: Requirement): boolean => ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator);

function isLabelSelector(text: string): boolean {
  try {
    parseLabelSelector(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether some type offers the fields is not asked here. */
function isFieldSelector(text: string): boolean {
  try {
    parseFieldSelector(text, {storageType: '', group: '', kind: ''} as never);
    return true;
  } catch (error) {
    return !/^invalid (field )?selector/.test((error as Error).message);
  }
}

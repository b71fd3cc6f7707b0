/** Annotations that mean something to pods, most of them older than the fields that took their place. */
import {type FieldError, fieldForbidden, goQuote, invalid} from '../../field-errors.ts';
import type {ObjectMeta} from '../../object.ts';
import {entries, list, type Part} from './loose.ts';
import {descendingPath} from './paths.ts';

const mirror = 'kubernetes.io/config.mirror';
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost';
const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/';
const appArmor = 'container.apparmor.security.beta.kubernetes.io/';

const containersOf = (spec: Part): [field: string, index: number, container: Part][] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) =>
    list(spec?.[field]).map((container, index): [string, number, Part] => [field, index, container]),
  );

export function podAnnotations(annotations: Record<string, string> | undefined, spec: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = (key: string): string => `${path}[${key}]`;
  if (annotations?.[mirror] !== undefined && !spec.nodeName)
    errors.push(invalid(at(mirror), annotations[mirror], 'must set spec.nodeName if mirror pod annotation is set'));
  const cost = annotations?.[deletionCost];
  if (cost !== undefined && !isDeletionCost(cost)) errors.push(invalid(at(deletionCost), cost, 'must be a 32bit integer'));
  if (annotations?.[seccompPod] !== undefined) errors.push(...seccomp(annotations[seccompPod], `${path}.${seccompPod}`));
  for (const [key, value] of entries(annotations)) {
    if (key.startsWith(seccompContainer)) errors.push(...seccomp(value, `${path}.${key}`));
    if (!key.startsWith(appArmor)) continue;
    const container = key.slice(appArmor.length);
    if (!containersOf(spec).some(([, , {name}]) => name === container)) errors.push(invalid(at(key), container, 'container not found'));
    if (!['', 'runtime/default', 'unconfined'].includes(value) && !value.startsWith('localhost/'))
      errors.push(invalid(at(key), value, `invalid AppArmor profile name: ${goQuote(value)}`));
  }
  return errors;
}

/** A sign in front only where it says something, no leading zeros. */
const isDeletionCost = (text: string): boolean => /^(0|-?[1-9]\d*)$/.test(text) && Math.abs(Number(text)) <= 2147483647;

function seccomp(profile: string, path: string): FieldError[] {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return [];
  if (profile.startsWith('localhost/')) return descendingPath(profile.slice('localhost/'.length), path);
  return [invalid(path, profile, 'must be a valid seccomp profile')];
}

/** Who sets a profile both ways must say the same both times. */
export function profilesAgree(meta: ObjectMeta, spec: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const {annotations = {}} = meta;
  const compare = (kind: 'seccomp' | 'apparmor', annotation: string | undefined, profile: Part, at: string): void => {
    if (annotation === undefined || !profile) return;
    const differs = (field: string, what: string): void => {
      errors.push(fieldForbidden(`${at}.${field}`, `${kind} ${what} in annotation and field must match`));
    };
    const defaults = kind === 'seccomp' ? ['runtime/default', 'docker/default'] : ['runtime/default'];
    if (profile.type === 'Unconfined' && annotation !== 'unconfined') differs('type', 'type');
    if (profile.type === 'RuntimeDefault' && !defaults.includes(annotation)) differs('type', 'type');
    if (profile.type !== 'Localhost') return;
    if (!annotation.startsWith('localhost/')) differs('type', 'type');
    else if (annotation.slice('localhost/'.length) !== profile.localhostProfile) differs('localhostProfile', 'profile');
  };
  const ofPod = spec?.securityContext;
  compare('seccomp', annotations[seccompPod], ofPod?.seccompProfile, `${path}.securityContext.seccompProfile`);
  for (const [field, index, {name, securityContext}] of containersOf(spec))
    compare(
      'seccomp',
      annotations[seccompContainer + name],
      securityContext?.seccompProfile,
      `${path}.${field}[${index}].securityContext.seccompProfile`,
    );
  if (spec?.os?.name === 'windows') return errors;
  for (const [field, index, {name, securityContext}] of containersOf(spec))
    compare(
      'apparmor',
      annotations[appArmor + name],
      securityContext?.appArmorProfile ?? ofPod?.appArmorProfile,
      `${path}.${field}[${index}].securityContext.appArmorProfile`,
    );
  return errors;
}

/** What an update may do to them. */
export function podAnnotationsUpdate(meta: ObjectMeta, old: ObjectMeta, spec: Part): FieldError[] {
  const errors: FieldError[] = [];
  const path = 'metadata.annotations';
  const [after, before] = [meta.annotations ?? {}, old.annotations ?? {}];
  for (const [key, value] of Object.entries(before)) {
    if (after[key] === value) continue;
    if (key.startsWith(appArmor)) errors.push(fieldForbidden(`${path}[${key}]`, 'may not remove or update AppArmor annotations'));
    if (key === mirror) errors.push(fieldForbidden(`${path}[${key}]`, 'may not remove or update mirror pod annotation'));
  }
  for (const key of Object.keys(after)) {
    if (key in before) continue;
    if (key.startsWith(appArmor)) errors.push(fieldForbidden(`${path}[${key}]`, 'may not add AppArmor annotations'));
    if (key === mirror) errors.push(fieldForbidden(`${path}[${key}]`, 'may not add mirror pod annotation'));
  }
  return [...errors, ...podAnnotations(after, spec ?? {}, path)];
}

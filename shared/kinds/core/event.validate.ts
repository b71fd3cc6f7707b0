/** Whether an event is well formed. The newer group asks for more; core takes what old clients send. */
import {type FieldError, invalid, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {problems, qualified} from '../common/checks.ts';
import {validateImmutable, validateObjectMeta, validateObjectMetaUpdate} from '../common/metadata.ts';
import {byteLength, dns1123Subdomain} from '../common/names.ts';

/** Which of the two groups the request came through. */
export type EventGroup = '' | 'events.k8s.io';

function legacy(object: KubeObject, group: EventGroup): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = object.metadata.namespace ?? '';
  const about: string = object.involvedObject?.namespace ?? '';
  const mismatch = (): void => {
    errors.push(invalid('involvedObject.namespace', about, 'does not match event.namespace'));
  };
  const controller = group === '' ? 'reportingComponent' : 'reportingController';
  if (!object.eventTime) {
    if (about ? about !== namespace : namespace !== '' && namespace !== 'default') mismatch();
  } else {
    if (!about && namespace !== 'default' && namespace !== 'kube-system') mismatch();
    const name: string = object.reportingComponent ?? '';
    if (!name) errors.push(required(controller));
    errors.push(...qualified(name, controller));
    const bounded = (field: string, bytes: number, needed = true): void => {
      const value: string = object[field] ?? '';
      if (needed && !value) errors.push(required(field));
      if (byteLength(value) > bytes) errors.push(invalid(field, '', `can have at most ${bytes} characters`));
    };
    bounded('reportingInstance', 128);
    bounded('action', 128);
    bounded('reason', 128);
    bounded('message', 1024, false);
  }
  return [...errors, ...problems('namespace', namespace, dns1123Subdomain(namespace))];
}

function series({series: given}: KubeObject): FieldError[] {
  if (!given) return [];
  return [
    ...((given.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(given.lastObservedTime ? [] : [required('series.lastObservedTime')]),
  ];
}

export function validateEvent(object: KubeObject, group: EventGroup): FieldError[] {
  const errors = legacy(object, group);
  if (group === '') return errors;
  errors.push(...validateObjectMeta(object.metadata, {namespaced: true}), ...series(object));
  if (!object.eventTime) errors.push(required('eventTime'));
  const type: string = object.type ?? '';
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalid('type', '', `has invalid value: ${type}`));
  const unset = 'needs to be unset';
  for (const field of ['firstTimestamp', 'lastTimestamp', 'count']) if (object[field]) errors.push(invalid(field, '', unset));
  if (object.source?.component || object.source?.host) errors.push(invalid('source', '', unset));
  return errors;
}

const kept = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingController',
  'reportingInstance',
];

export function validateEventUpdate(object: KubeObject, old: KubeObject, group: EventGroup): FieldError[] {
  const errors = legacy(object, group);
  if (group === '') return errors;
  errors.push(...validateObjectMetaUpdate(object.metadata, old.metadata));
  if (JSON.stringify(object.series) !== JSON.stringify(old.series)) errors.push(...series(object));
  for (const field of kept) {
    const stored = field === 'reportingController' ? 'reportingComponent' : field;
    errors.push(...validateImmutable(object[stored], old[stored], field));
  }
  return errors;
}

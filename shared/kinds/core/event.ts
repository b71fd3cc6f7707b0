/** Something that happened. core/v1 and events.k8s.io/v1 are two faces of one stored object, kept in the former. */
import {define, type KindRules} from '../define.ts';
import {validateEvent, validateEventUpdate} from './event.validate.ts';

const shared: KindRules = {
  allowCreateOnUpdate: true,
  selectableFields(object) {
    const about = object.involvedObject ?? {};
    return {
      'involvedObject.kind': about.kind ?? '',
      'involvedObject.namespace': about.namespace ?? '',
      'involvedObject.name': about.name ?? '',
      'involvedObject.uid': about.uid ?? '',
      'involvedObject.apiVersion': about.apiVersion ?? '',
      'involvedObject.resourceVersion': about.resourceVersion ?? '',
      'involvedObject.fieldPath': about.fieldPath ?? '',
      reason: object.reason ?? '',
      reportingComponent: object.reportingComponent ?? '',
      source: object.source?.component || (object.reportingComponent ?? ''),
      type: object.type ?? '',
    };
  },
};

/** Through core: what old clients send passes, metadata of any form included. */
export const event = define({
  ...shared,
  name: 'pathSegment',
  plainFinalizers: true,
  metadataOnUpdate: [],
  validate: (object) => validateEvent(object, ''),
  validateUpdate: (object, old) => validateEventUpdate(object, old, ''),
});

/** Through the newer group. */
export const groupedEvent = define({
  ...shared,
  name: 'pathSegment',
  plainFinalizers: true,
  metadataOnUpdate: [],
  validate: (object) => validateEvent(object, 'events.k8s.io'),
  validateUpdate: (object, old) => validateEventUpdate(object, old, 'events.k8s.io'),
});

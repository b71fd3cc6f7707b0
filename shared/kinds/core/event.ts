/** Something that happened. core/v1 and events.k8s.io/v1 are two faces of one stored object, kept in the former. */
import {define} from '../define.ts';

export const event = define({
  allowCreateOnUpdate: true,
  plainFinalizers: true,
  metadataOnUpdate: [],
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
});

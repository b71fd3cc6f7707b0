/** Event of the core group and of events.k8s.io: the same object under other names. Stored as the core one. */
import type {KubeObject} from '../object.ts';

/** Core to events.k8s.io. */
export function eventsEvent(object: KubeObject): KubeObject {
  const {
    involvedObject,
    message,
    source,
    firstTimestamp,
    lastTimestamp,
    count,
    reportingComponent,
    reportingInstance,
    eventTime,
    series,
    action,
    reason,
    related,
    type,
  } = object;
  return {
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    metadata: object.metadata,
    eventTime: eventTime ?? null,
    ...(series && {series}),
    ...(reportingComponent && {reportingController: reportingComponent}),
    ...(reportingInstance && {reportingInstance}),
    ...(action && {action}),
    ...(reason && {reason}),
    regarding: involvedObject ?? {},
    ...(related && {related}),
    ...(message && {note: message}),
    ...(type && {type}),
    deprecatedSource: source ?? {},
    deprecatedFirstTimestamp: firstTimestamp ?? null,
    deprecatedLastTimestamp: lastTimestamp ?? null,
    ...(count && {deprecatedCount: count}),
  };
}

/** events.k8s.io to core. */
export function coreEvent(object: KubeObject): KubeObject {
  const {
    regarding,
    note,
    deprecatedSource,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedCount,
    reportingController,
    reportingInstance,
  } = object;
  const {eventTime, series, action, reason, related, type} = object;
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: object.metadata,
    involvedObject: regarding ?? {},
    ...(reason && {reason}),
    ...(note && {message: note}),
    source: deprecatedSource ?? {},
    firstTimestamp: deprecatedFirstTimestamp ?? null,
    lastTimestamp: deprecatedLastTimestamp ?? null,
    ...(deprecatedCount && {count: deprecatedCount}),
    ...(type && {type}),
    eventTime: eventTime ?? null,
    ...(series && {series}),
    ...(action && {action}),
    ...(related && {related}),
    reportingComponent: reportingController ?? '',
    reportingInstance: reportingInstance ?? '',
  };
}

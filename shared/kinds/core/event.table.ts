/** Events in a table, of both groups: the older fields win where both are set, a series over all. */
import {nameOf, since} from '../common/cells.table.ts';
import {type KindTable, text, wide} from '../common/columns.table.ts';

export const eventTable: KindTable = {
  columns: [
    text('Last Seen', 'Time since it happened last.'),
    text('Type', 'Normal, or a warning.'),
    text('Reason', 'Why it was reported, in a word.'),
    text('Object', 'Object that it is about.'),
    wide(text('Subobject', 'Part of the object that it is about.')),
    wide(text('Source', 'Who reported it, and where.')),
    text('Message', 'What happened.'),
    wide(text('First Seen', 'Time since it happened first.')),
    wide(text('Count', 'How often it happened.')),
    wide(text('Name', 'Name of the event.', 'name')),
  ],
  cells(event, now) {
    const {involvedObject = {}, series, source} = event;
    const first = since(event.firstTimestamp || event.eventTime, now);
    const last = event.lastTimestamp ? since(event.lastTimestamp, now) : first;
    const kind = (involvedObject.kind ?? '').toLowerCase();
    const component = source?.component || event.reportingComponent || '';
    const instance = source?.host || event.reportingInstance || '';
    return [
      series ? since(series.lastObservedTime, now) : last,
      event.type ?? '',
      event.reason ?? '',
      involvedObject.name ? `${kind}/${involvedObject.name}` : kind,
      involvedObject.fieldPath ?? '',
      instance ? `${component}, ${instance}` : component,
      (event.message ?? '').trim(),
      first,
      series ? (series.count ?? 0) : event.count || 1,
      nameOf(event),
    ];
  },
};

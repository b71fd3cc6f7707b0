/** Jobs in a table. */
import type {KubeObject} from '../../object.ts';
import {ageOf, containerImages, containerNames, isTrue, nameOf, selectorOrNone} from '../common/cells.table.ts';
import {age, containers, images, type KindTable, name, selector, text} from '../common/columns.table.ts';
import {humanDuration} from '../common/human-duration.ts';
import type {Part} from '../common/loose.ts';

export const jobTable: KindTable = {
  columns: [
    name,
    text('Status', 'Whether it runs, rests or is done.'),
    text('Completions', 'Pods that succeeded, of those wanted.'),
    text('Duration', 'Time from its start to its end, or until now.'),
    age,
    containers,
    images,
    selector,
  ],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    return [
      nameOf(object),
      statusText(object),
      completions(spec, status),
      status.startTime
        ? humanDuration((status.completionTime ? Date.parse(status.completionTime) : now) - Date.parse(status.startTime))
        : '',
      ageOf(object, now),
      containerNames(spec.template?.spec),
      containerImages(spec.template?.spec),
      selectorOrNone(spec.selector),
    ];
  },
};

/** Without completions any pod's success is the job's. */
function completions(spec: Part, status: Part): string {
  const succeeded = status.succeeded ?? 0;
  if (typeof spec.completions === 'number') return `${succeeded}/${spec.completions}`;
  return spec.parallelism > 1 ? `${succeeded}/1 of ${spec.parallelism}` : `${succeeded}/1`;
}

function statusText({metadata, status}: KubeObject): string {
  const has = (type: string): boolean => isTrue(status?.conditions, type);
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (metadata.deletionTimestamp) return 'Terminating';
  if (has('Suspended')) return 'Suspended';
  if (has('FailureTarget')) return 'FailureTarget';
  return has('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

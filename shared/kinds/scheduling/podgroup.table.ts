/** Pod groups in a table. */
import type {KubeObject} from '../../object.ts';
import {ageOf, nameOf, none} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {list, type Part} from '../common/loose.ts';

export const podGroupTable: KindTable = {
  columns: [
    name,
    text('Policy', 'How its pods are scheduled together.'),
    text('Workload', 'Workload that it belongs to.'),
    text('Status', 'Whether it is scheduled.'),
    age,
  ],
  cells(object, now) {
    const {spec = {}} = object;
    const policy = spec.schedulingPolicy?.gang ? 'Gang' : 'Basic';
    const workload = spec.podGroupTemplateRef ? (spec.podGroupTemplateRef.workload?.workloadName ?? '') : none;
    return [nameOf(object), policy, workload, statusText(object), ageOf(object, now)];
  },
};

function statusText({status}: KubeObject): string {
  const last = (wanted: string): Part => list(status?.conditions).findLast(({type}) => type === wanted);
  const disrupted = last('DisruptionTarget');
  if (disrupted) return disrupted.reason ?? '';
  const scheduled = last('PodGroupScheduled');
  return !scheduled ? 'Pending' : scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable';
}

/** Cron jobs in a table. */
import {ageOf, containerImages, containerNames, nameOf, none, selectorOrNone, since, unset} from '../common/cells.table.ts';
import {age, boolean, containers, images, integer, type KindTable, name, selector, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const cronJobTable: KindTable = {
  columns: [
    name,
    text('Schedule', 'When jobs start.'),
    text('Timezone', 'Time zone of the schedule.'),
    boolean('Suspend', 'Whether no jobs start for now.'),
    integer('Active', 'Jobs that run.'),
    text('Last Schedule', 'Time since a job last started.'),
    age,
    containers,
    images,
    selector,
  ],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    const job = spec.jobTemplate?.spec;
    return [
      nameOf(object),
      spec.schedule ?? '',
      spec.timeZone ?? none,
      typeof spec.suspend === 'boolean' ? (spec.suspend ? 'True' : 'False') : unset,
      list(status.active).length,
      status.lastScheduleTime ? since(status.lastScheduleTime, now) : none,
      ageOf(object, now),
      containerNames(job?.template?.spec),
      containerImages(job?.template?.spec),
      selectorOrNone(job?.selector),
    ];
  },
};

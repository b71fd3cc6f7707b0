/** Horizontal pod autoscalers in a table: each metric as current/target, the first two of them. */
import {ageOf, nameOf, none, unknown, unset} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {list, type Part} from '../common/loose.ts';

export const horizontalPodAutoscalerTable: KindTable = {
  columns: [
    name,
    text('Reference', 'Object that is scaled.'),
    text('Targets', 'Metrics: what is, and what should be.'),
    text('MinPods', 'Least number of pods.'),
    text('MaxPods', 'Greatest number of pods.'),
    text('Replicas', 'Number of pods.'),
    age,
  ],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    return [
      nameOf(object),
      `${spec.scaleTargetRef?.kind ?? ''}/${spec.scaleTargetRef?.name ?? ''}`,
      metricsText(list(spec.metrics), list(status.currentMetrics)),
      typeof spec.minReplicas === 'number' ? String(spec.minReplicas) : unset,
      spec.maxReplicas ?? 0,
      status.currentReplicas ?? 0,
      ageOf(object, now),
    ];
  },
};

const maxShown = 2;

function metricsText(metrics: Part[], current: Part[]): string {
  if (metrics.length === 0) return none;
  const shown = metrics.slice(0, maxShown).map((metric, index) => metricText(metric, current[index] ?? {}));
  const more = metrics.length - maxShown;
  return more > 0 ? `${shown.join(', ')} + ${more} more...` : shown.join(', ');
}

/** Statuses belong to specs by their place in the list, whatever their type. */
function metricText(metric: Part, status: Part): string {
  switch (metric.type) {
    case 'Pods': {
      const current = status.pods ? pointer(status.pods.current?.averageValue) : unknown;
      return `${current}/${pointer(metric.pods?.target?.averageValue)}`;
    }
    case 'External':
      return valueText(metric.external?.target, status.external);
    case 'Object':
      return valueText(metric.object?.target, status.object);
    case 'Resource':
      return utilizationText(metric.resource, status.resource);
    case 'ContainerResource':
      return utilizationText(metric.containerResource, status.containerResource);
    default:
      return '<unknown type>';
  }
}

/** How the reference prints a quantity that is not there. */
const pointer = (value: Part): string => (value === undefined || value === null ? '<nil>' : String(value));

function valueText(target: Part, status: Part): string {
  if (target?.averageValue) return `${status?.current?.averageValue ?? unknown}/${target.averageValue} (avg)`;
  return `${status ? pointer(status.current?.value) : unknown}/${pointer(target?.value)}`;
}

function utilizationText(source: Part, status: Part): string {
  const {name, target = {}} = source ?? {};
  if (target.averageValue) return `${name}: ${status ? pointer(status.current?.averageValue) : unknown}/${target.averageValue}`;
  const percent = (value: number | undefined, otherwise: string): string => (typeof value === 'number' ? `${value}%` : otherwise);
  return `${name}: ${percent(status?.current?.averageUtilization, unknown)}/${percent(target.averageUtilization, '<auto>')}`;
}

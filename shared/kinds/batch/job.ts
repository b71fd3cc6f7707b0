/** Pods that run to completion. Unless asked not to, the server makes the selector that ties a job to its pods. */
import type {KubeObject} from '../../object.ts';
import type {Part} from '../common/loose.ts';
import {templateWarnings} from '../common/pod-warnings.ts';
import {nameOfPods} from '../common/workload-warnings.ts';
import {define} from '../define.ts';
import {validateJob, validateJobUpdate} from './job.validate.ts';

const controllerUid = 'batch.kubernetes.io/controller-uid';
const jobName = 'batch.kubernetes.io/job-name';

export const job = define({
  warningsOnCreate: (object) => [...nameOfPods(object), ...jobWarnings(object.spec, 'spec')],
  warningsOnUpdate: (object, old) => (object.metadata.generation === old.metadata.generation ? [] : jobWarnings(object.spec, 'spec')),
  validate: validateJob,
  validateUpdate: (object, old, {subresource}) => validateJobUpdate(object, old, subresource),
  generation: true,
  defaultPropagation: 'Orphan',
  metadataOnUpdate: ['update', 'full'],
  newStatus: () => ({}),
  prepareForCreate: generateSelector,
  selectableFields: (object) => ({'status.successful': String(object.status?.succeeded ?? 0)}),
});

function generateSelector(object: KubeObject): void {
  const spec = object.spec;
  if (!spec || spec.manualSelector) return;
  const {uid = '', name = ''} = object.metadata;
  spec.template ??= {};
  spec.template.metadata ??= {};
  const given: Record<string, string> | undefined = spec.template.metadata.labels;
  const labels = {...given};
  const own: Record<string, string> = {[jobName]: name, [controllerUid]: uid, 'job-name': name, 'controller-uid': uid};
  // A label that is there with another value is the user's claim to another job: validation says so.
  for (const [key, value] of Object.entries(own)) if (!(key in labels)) labels[key] = value;
  spec.template.metadata.labels = labels;
  // A job without labels of its own was given those of its template, and has these as well.
  if (object.metadata.labels === given) object.metadata.labels = {...labels};
  spec.selector ??= {};
  spec.selector.matchLabels = {...spec.selector.matchLabels};
  spec.selector.matchLabels[controllerUid] ??= uid;
}

/** Indexes are tracked in text: with many of them, and many at once, it may grow beyond what an object holds. */
export function jobWarnings(spec: Part, path: string): string[] {
  const crowded = spec?.completionMode === 'Indexed' && spec.completions > 100_000 && spec.parallelism > 10_000;
  return [
    ...(crowded
      ? [
          `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
        ]
      : []),
    ...templateWarnings(spec?.template, `${path}.template`),
  ];
}

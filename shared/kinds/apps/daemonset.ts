/** A pod on each node. */
import {sameJson} from '../common/equal.ts';
import {workloadWarnings} from '../common/workload-warnings.ts';
import {define} from '../define.ts';
import {generationAnnotation} from './daemonset.defaults.ts';
import {validateDaemonSet, validateDaemonSetUpdate} from './daemonset.validate.ts';

export const daemonSet = define({
  ...workloadWarnings(),
  validate: validateDaemonSet,
  validateUpdate: (object, old, {subresource}) => validateDaemonSetUpdate(object, old, subresource),
  generation: true,
  newStatus: () => ({currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0}),
  prepareForCreate(object) {
    const given = Number(object.metadata.annotations?.[generationAnnotation] ?? 0);
    object.metadata.annotations = {...object.metadata.annotations, [generationAnnotation]: String(Math.max(given, 1))};
  },
  prepareForUpdate(object, old, {subresource}) {
    const before = Number(old.metadata.annotations?.[generationAnnotation] ?? 0);
    const changed = subresource === '' && !sameJson(object.spec?.template, old.spec?.template);
    object.metadata.annotations = {...object.metadata.annotations, [generationAnnotation]: String(changed ? before + 1 : before)};
  },
});

/** The specification of a pod, wherever it stands: in pods and in the templates of what makes pods. Its volumes are in volume.defaults.ts. */
import {type Defaulter, type Defaults, fill, fillZero} from '../common/defaulter.ts';
import {imageTag} from '../common/image.ts';
import type {Part} from '../common/loose.ts';

const container: Defaulter = (value) => {
  fill(value, 'terminationMessagePath', '/dev/termination-log');
  fill(value, 'terminationMessagePolicy', 'File');
  fill(value, 'imagePullPolicy', pullPolicy(value.image));
};

/** What moves is pulled again each time. */
export const pullPolicy = (image: unknown): 'Always' | 'IfNotPresent' =>
  typeof image === 'string' && imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';

/** The account's older name says the same as its name, which leads. */
function pairAccountNames(spec: Part): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

export const podSpecDefaults: Defaults = {
  'core/v1.PodSpec': (spec) => {
    fill(spec, 'restartPolicy', 'Always');
    fill(spec, 'terminationGracePeriodSeconds', 30);
    fill(spec, 'dnsPolicy', 'ClusterFirst');
    pairAccountNames(spec);
    fill(spec, 'securityContext', {});
    fill(spec, 'schedulerName', 'default-scheduler');
  },
  'core/v1.Container': container,
  'core/v1.EphemeralContainer': container,
  'core/v1.Probe': (probe) => {
    fillZero(probe, 'timeoutSeconds', 1);
    fillZero(probe, 'periodSeconds', 10);
    fillZero(probe, 'successThreshold', 1);
    fillZero(probe, 'failureThreshold', 3);
  },
  'core/v1.HTTPGetAction': (action) => {
    fill(action, 'path', '/');
    fill(action, 'scheme', 'HTTP');
  },
  'core/v1.ObjectFieldSelector': (selector) => fill(selector, 'apiVersion', 'v1'),
};

/** From one version of a kind to another. Most versions of a kind have one shape; those that do not have a file here. */
import {groupVersion, type KubeObject} from '../object.ts';
import {coreEvent, eventsEvent} from './event.ts';
import {scalerFromV1, scalerToV1} from './horizontal-pod-autoscaler.ts';

type Conversion = (object: KubeObject) => KubeObject;

const conversions: Record<string, Conversion> = {
  'v1/Event events.k8s.io/v1': eventsEvent,
  'events.k8s.io/v1/Event v1': coreEvent,
  'autoscaling/v1/HorizontalPodAutoscaler autoscaling/v2': scalerFromV1,
  'autoscaling/v2/HorizontalPodAutoscaler autoscaling/v1': scalerToV1,
};

/** `object` itself when it already is of that version, else a new one. */
export function convert(object: KubeObject, to: {group: string; version: string}): KubeObject {
  const apiVersion = groupVersion(to);
  if (object.apiVersion === apiVersion) return object;
  const conversion = conversions[`${object.apiVersion}/${object.kind} ${apiVersion}`];
  return conversion ? conversion(object) : {...object, kind: object.kind, apiVersion};
}

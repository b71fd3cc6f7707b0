/** binding: a pod gets its node, once. */
import {conflict, notFound} from '../../errors.ts';
import {invalidObject, notSupported, required} from '../../field-errors.ts';
import {negotiate, plainOffer} from '../../http/negotiate.ts';
import {writeOptions} from '../../http/write-options.ts';
import {rfc3339} from '../../kinds/common/time.ts';
import type {KubeObject} from '../../object.ts';
import {decodeBody} from '../body.ts';
import {type Handler, type RequestContext, subjectOf} from '../context.ts';
import {encodeBody, headersFor} from '../respond.ts';
import {updateObject} from '../update.ts';

const bindingKind = {group: '', version: 'v1', kind: 'Binding'};

/** POST pods/{name}/binding, and POST bindings, where the body names the pod. */
export const bind: Handler = async (context) => {
  const {request, machine} = context;
  const representation = negotiate(request.headers, request.query, plainOffer);
  const options = writeOptions('CreateOptions', request.query);
  const binding = decodeBody(context, bindingKind, options.fieldValidation);
  const name = context.info.name || binding.metadata.name || '';
  const errors = [];
  if (!binding.target?.name) errors.push(required('target.name'));
  if (binding.target?.kind && binding.target.kind !== 'Node')
    errors.push(notSupported('target.kind', binding.target.kind, ['Node', '<empty>']));
  if (errors.length > 0) throw invalidObject(bindingKind, name, errors);
  const pods = machine.catalogue.find('', 'v1', 'pods')!;
  const podContext: RequestContext = {...context, resource: pods, info: {...context.info, resource: 'pods', name, subresource: 'binding'}};
  await updateObject(podContext, options, (old) => assigned(podContext, old, binding, machine.clock.now()), true);
  return {status: 201, headers: headersFor(representation), body: encodeBody(representation, created)};
};

const created = {kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201};

function assigned(context: RequestContext, old: KubeObject, binding: KubeObject, now: number): KubeObject {
  const {name} = context.info;
  const subject = subjectOf(context.resource);
  const refuse = (why: string) => conflict({group: '', resource: 'pods/binding'}, name, why);
  if (binding.metadata.uid && binding.metadata.uid !== old.metadata.uid) throw notFound(subject, name);
  if (old.metadata.deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (old.spec.nodeName) throw refuse(`pod ${name} is already assigned to node "${old.spec.nodeName}"`);
  if (old.spec.schedulingGates?.length) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const pod = structuredClone(old);
  pod.spec.nodeName = binding.target.name;
  if (binding.metadata.annotations) pod.metadata.annotations = {...pod.metadata.annotations, ...binding.metadata.annotations};
  pod.status.conditions ??= [];
  const conditions: KubeObject[] = pod.status.conditions;
  const present = conditions.find((condition) => condition['type'] === 'PodScheduled');
  if (!present)
    conditions.push({
      type: 'PodScheduled',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: rfc3339(now),
    } as unknown as KubeObject);
  else if (present['status'] !== 'True') {
    present['status'] = 'True';
    present['lastTransitionTime'] = rfc3339(now);
    delete present['reason'];
    delete present['message'];
  }
  return pod;
}

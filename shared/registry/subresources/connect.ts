/**
 * log, exec, attach, portforward and proxy: checked as the reference does before it dials a node. No node can be reached yet, so what
 * passes the checks is answered with a 503 that says so.
 */
import {badRequest, serviceUnavailable} from '../../errors.ts';
import {type FieldError, invalid, invalidObject} from '../../field-errors.ts';
import {parseInteger} from '../../http/list-options.ts';
import {isTrue, queryValue} from '../../http/request-info.ts';
import type {KubeObject} from '../../object.ts';
import type {Handler, RequestContext} from '../context.ts';
import {decodeImage} from '../encode.ts';
import {readStored} from '../get.ts';

export const connect: Handler = async (context) => {
  const {info, resource} = context;
  if (info.subresource === 'log') checkLogOptions(context);
  const object = decodeImage((await readStored(context, info.name)).image);
  if (resource.resource === 'pods') checkPod(context, object);
  if (resource.resource === 'services') throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(info.name)}`);
  const node = resource.resource === 'nodes' ? info.name : object.spec.nodeName;
  throw serviceUnavailable(`node ${JSON.stringify(node)} cannot be reached: no agent is connected`);
};

function checkPod(context: RequestContext, pod: KubeObject): void {
  const {info, request} = context;
  const name = info.name;
  const container = queryValue(request.query, 'container') ?? '';
  if (info.subresource === 'log' || info.subresource === 'exec' || info.subresource === 'attach') chooseContainer(pod, container, name);
  if (info.subresource === 'exec' || info.subresource === 'attach') {
    const {phase} = pod.status ?? {};
    if (phase === 'Succeeded' || phase === 'Failed')
      throw badRequest(`cannot exec or attach in a container in a completed pod; current phase is ${phase}`);
    checkStreams(context);
  }
  if (!pod.spec.nodeName) {
    // A log of a pod that has not been scheduled is empty in the reference; saying why helps more.
    throw badRequest(`pod ${name} does not have a host assigned`);
  }
}

function chooseContainer(pod: KubeObject, container: string, name: string): void {
  const names = (field: string): string[] => (pod.spec[field] ?? []).map((entry: {name: string}) => entry.name);
  const own = names('containers');
  const init = names('initContainers');
  const ephemeral = names('ephemeralContainers');
  if (container === '') {
    if (own.length === 1) return;
    let choices = `choose one of: [${own.join(' ')}]`;
    if (init.length > 0) choices += ` or one of the init containers: [${init.join(' ')}]`;
    if (ephemeral.length > 0) choices += ` or one of the ephemeral containers: [${ephemeral.join(' ')}]`;
    throw badRequest(`a container name must be specified for pod ${name}, ${choices}`);
  }
  if (![...own, ...init, ...ephemeral].includes(container)) throw badRequest(`container ${container} is not valid for pod ${name}`);
}

function checkStreams({request, info}: RequestContext): void {
  const has = (stream: string) => isTrue(queryValue(request.query, stream));
  if (!has('stdin') && !has('stdout') && !has('stderr')) throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  if (info.subresource === 'exec' && queryValue(request.query, 'command') === undefined) throw badRequest('you must specify command');
}

function checkLogOptions({request, info}: RequestContext): void {
  const errors: FieldError[] = [];
  const number = (field: string): number | undefined => {
    const value = queryValue(request.query, field);
    return value === undefined ? undefined : parseInteger(value);
  };
  const atLeast = (field: string, minimum: number, words: string) => {
    const value = number(field);
    if (value !== undefined && value < minimum) errors.push(invalid(field, value, words));
  };
  atLeast('tailLines', 0, 'must be greater than or equal to 0');
  atLeast('limitBytes', 1, 'must be greater than 0');
  atLeast('sinceSeconds', 1, 'must be greater than 0');
  if (errors.length > 0) throw invalidObject({group: '', kind: 'PodLogOptions'}, info.name, errors);
}

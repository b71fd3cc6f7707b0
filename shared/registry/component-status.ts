/**
 * ComponentStatus: no object but a look at the parts of the control plane, kept for old clients. Here the store is the one part with a
 * health of its own; it goes by the name that those clients know.
 */
import {methodNotSupported, notFound} from '../errors.ts';
import {listOptions} from '../http/list-options.ts';
import {listOffer, negotiate, objectOffer} from '../http/negotiate.ts';
import type {KubeObject} from '../object.ts';
import {type Handler, type Machine, subjectOf} from './context.ts';
import {respondObject, respondObjects} from './respond.ts';
import {itemFilter} from './selection.ts';

const storeName = 'etcd-0';

export const getComponentStatus: Handler = async (context) => {
  const {request, info, machine} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  const found = (await statuses(machine)).find(({metadata}) => metadata.name === info.name);
  if (!found) throw notFound({group: '', resource: 'componentstatus'}, info.name);
  return respondObject(context, representation, found);
};

export const listComponentStatuses: Handler = async (context) => {
  const {request, machine, resource} = context;
  const options = listOptions(request.query);
  if (options.watch) throw methodNotSupported(subjectOf(resource), 'watch');
  const representation = negotiate(request.headers, request.query, listOffer);
  const matches = itemFilter(context, options);
  const items = (await statuses(machine)).filter(({metadata}) => matches?.({key: metadata.name!, index: {}}) ?? true);
  return respondObjects(context, representation, items, {});
};

async function statuses({store}: Machine): Promise<KubeObject[]> {
  let problem: string | undefined;
  try {
    await store.head('namespaces');
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const condition = {type: 'Healthy', status: problem === undefined ? 'True' : 'False', message: problem ?? 'ok'};
  return [{kind: 'ComponentStatus', apiVersion: 'v1', metadata: {name: storeName}, conditions: [condition]}];
}

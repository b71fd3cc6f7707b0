/** Part of each deployment: makes the keys that are not there, then writes what every cluster starts with. Run again it changes nothing. */

import {bootstrap} from '../shared/controllers/bootstrap/bootstrap.ts';
import {createServiceAllocator} from '../shared/registry/allocators/service.ts';
import {creating} from '../shared/registry/served/create.ts';
import {deleting} from '../shared/registry/served/delete.ts';
import {getting} from '../shared/registry/served/get.ts';
import {listing} from '../shared/registry/served/list.ts';
import {patching} from '../shared/registry/served/patch.ts';
import {updating} from '../shared/registry/served/update.ts';
import {clusterOf} from './kit/cluster.ts';
import {customResource} from './kit/custom-resource.ts';
import {doors} from './kit/doors.ts';
import {ensureKeys} from './kit/keys.ts';
import {amazonRoots} from './kit/roots.ts';

const cluster = clusterOf('bootstrap', () => ({
  handlers: {...getting, ...listing, ...creating, ...updating, ...patching, ...deleting},
  allocator: createServiceAllocator,
}));

export const handler = customResource('bootstrap', async ({staticTokens}) => {
  const {parameters} = cluster.environment();
  if (parameters === undefined) throw new Error('the environment variable CLUSTERLESS_PARAMETERS is not set');
  const {clientCa, ca} = await ensureKeys(doors, parameters, typeof staticTokens === 'string' ? staticTokens : '');
  const {client, assembly, options} = await cluster.open();
  const stop = await bootstrap({
    client,
    machine: assembly.machine,
    options: {...options, clientCaCertificate: clientCa, caCertificate: ca ?? amazonRoots()},
  });
  await stop();
  return {ClientCa: clientCa};
});

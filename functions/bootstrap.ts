/** Part of each deployment: makes the keys that are not there, then writes what every cluster starts with. Run again it changes nothing. */

import {bootstrap} from '../shared/controllers/bootstrap/bootstrap.ts';
import {clusterOf} from './kit/cluster.ts';
import {controllerParts} from './kit/controllers.ts';
import {customResource} from './kit/custom-resource.ts';
import {doors} from './kit/doors.ts';
import {ensureKeys} from './kit/keys.ts';
import {amazonRoots} from './kit/roots.ts';

const cluster = clusterOf('bootstrap', controllerParts);

export const handler = customResource('bootstrap', async ({staticTokens}) => {
  const {parameters} = cluster.environment();
  if (parameters === undefined) throw new Error('the environment variable CLUSTERLESS_PARAMETERS is not set');
  const {clientCa, ca} = await ensureKeys(doors, parameters, typeof staticTokens === 'string' ? staticTokens : '');
  const {client, assembly, options} = await cluster.open();
  const stop = await bootstrap({
    client,
    machine: assembly.machine,
    options: {...options, figures: true, clientCaCertificate: clientCa, caCertificate: ca ?? amazonRoots()},
  });
  await stop();
  return {ClientCa: clientCa};
});

/** `clusterless proxy`: the plain API on localhost, with all watches on one connection, until the last signal. */
import {resolve} from 'node:path';
import {type Credentials, CredentialsError, loadCredentials} from '../../shared/client/node/credentials.ts';
import {parseListen} from '../listen.ts';
import {startProxy} from '../proxy/proxy.ts';
import {Refusal} from './fail.ts';
import {readServerFile} from './server-file.ts';

export interface ProxyFlags {
  data: string;
  kubeconfig?: string;
  context?: string;
  listen: string;
}

export async function proxy(flags: ProxyFlags): Promise<void> {
  const {host, port} = parseListen(flags.listen);
  const credentials = await credentialsOf(flags).catch((error: unknown) => {
    throw error instanceof CredentialsError ? new Refusal(error.message) : error;
  });
  const started = await startProxy({credentials, host, port});
  const how = await started.look();
  if (!isLoopback(host)) {
    process.stderr.write(`warning: whoever reaches ${flags.listen} acts with your rights on ${credentials.server}\n`);
  }
  process.stdout.write(`ready ${started.url} for ${credentials.server}, watches over ${how}\n`);
  await new Promise<void>((done) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => done());
  });
  await started.close();
  process.exit(0);
}

const isLoopback = (host: string): boolean => /^127\.|^::1$|^localhost$/.test(host);

/** A kubeconfig that is named, else the cluster that runs over the data folder, else what kubectl would take. */
async function credentialsOf({data, kubeconfig, context}: ProxyFlags): Promise<Credentials> {
  const more = context === undefined ? {} : {context};
  if (kubeconfig !== undefined) return loadCredentials({kubeconfig: resolve(kubeconfig), ...more});
  const running = await readServerFile(resolve(data));
  return loadCredentials({...(running && {kubeconfig: running.kubeconfig}), ...more});
}

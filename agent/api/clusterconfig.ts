/** The file of --clusterconfig: who the agent is, and where the server is and how it is verified. */
import {stat} from 'node:fs/promises';
import {type Credentials, loadCredentials} from '../../shared/client/node/credentials.ts';

/** Nothing of it is secret. */
export interface ServerAccess {
  url: URL;
  ca?: string;
  insecure: boolean;
  serverName?: string;
}

export const serverAccess = ({server, ca, insecure = false, serverName}: Credentials): ServerAccess => ({
  url: new URL(server),
  insecure,
  ...(ca !== undefined && {ca}),
  ...(serverName !== undefined && {serverName}),
});

/** @throws Error that names the file and what is wrong in it */
export async function readClusterConfig(file: string): Promise<Credentials> {
  try {
    await stat(file);
    const credentials = await loadCredentials({kubeconfig: file});
    if (!URL.canParse(credentials.server)) throw new Error(`${file} names a server that is no URL: ${credentials.server}`);
    return credentials;
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException;
    throw new Error(`invalid clusterconfig: ${code === 'ENOENT' ? `stat ${file}: no such file or directory` : message}`);
  }
}

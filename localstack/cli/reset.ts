/** `clusterless reset`: an empty data folder again. */
import {access} from 'node:fs/promises';
import {resolve} from 'node:path';
import {createInterface} from 'node:readline/promises';
import {resetData} from '../cluster.ts';
import {Refusal} from './fail.ts';
import {readServerFile} from './server-file.ts';

export async function reset(flags: {data: string; yes?: boolean}): Promise<void> {
  const data = resolve(flags.data);
  const server = await readServerFile(data);
  if (server) throw new Refusal(`process ${server.pid} serves ${data} at ${server.url}; stop it first`);
  if (!(await exists(data))) {
    process.stdout.write(`nothing to reset: ${data} does not exist\n`);
    return;
  }
  if (!flags.yes) await confirm(`remove the store, certificates and kubeconfig in ${data}, and the pods of its node? [y/N] `);
  // First, while what is there says where everything is.
  await new (await import('../node/node-files.ts')).NodeFiles(data).cleanUp((line) => void process.stdout.write(`${line}\n`));
  await resetData(data);
  process.stdout.write(`reset ${data}\n`);
}

async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new Refusal('not asked at a terminal: say --yes');
  const terminal = createInterface({input: process.stdin, output: process.stderr});
  const answer = await terminal.question(question);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Refusal('nothing removed');
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

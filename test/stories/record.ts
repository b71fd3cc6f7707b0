/**
 * Writes the transcripts anew from a reference: KUBECONFIG=... KUBECTL=... node scripts/run.mjs test/stories/record.ts [NAME...]
 * The commands are those of the transcripts that there are; their outputs are replaced. Judge the difference before it is committed.
 */
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {openShell, parseTranscript, play, prepare, printTranscript, transcripts} from './session.ts';

const {KUBECONFIG, KUBECTL, OUT = transcripts} = process.env;
if (!KUBECONFIG || !KUBECTL) throw new Error('name the reference in KUBECONFIG and kubectl in KUBECTL');
const names = process.argv.slice(2);
for (const file of readdirSync(transcripts)) {
  const name = basename(file, '.txt');
  if (names.length > 0 && !names.includes(name)) continue;
  const text = readFileSync(join(transcripts, file), 'utf8');
  const shell = await openShell(readFileSync(KUBECONFIG, 'utf8'), [KUBECTL]);
  const namespace = `story-${name}`;
  try {
    await prepare(shell, namespace);
    const steps = await play(
      shell,
      parseTranscript(text).map(({command}) => command),
    );
    writeFileSync(join(OUT, file), `${printTranscript(text.slice(0, text.indexOf('\n')), steps)}`);
  } finally {
    await shell.run(`kubectl delete namespace ${namespace} --wait=false`);
    // Without controllers nobody else empties and ends it.
    await shell.run(
      `for kind in $(kubectl api-resources --namespaced --verbs=deletecollection -o name); do kubectl delete $kind --all -n ${namespace} --wait=false --grace-period=0 --force; done;
       kubectl get namespace ${namespace} -o json | sed 's/"kubernetes"//' | kubectl replace --raw /api/v1/namespaces/${namespace}/finalize -f -`,
    );
    await shell.close();
  }
  process.stdout.write(`${file}\n`);
}

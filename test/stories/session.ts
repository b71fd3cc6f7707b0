/**
 * Sessions at a shell, held against transcripts that were recorded from the reference. A transcript is what one would have seen:
 * `$ command`, its output, and `[exit N]` where N is not 0. What differs from run to run (ages, uids, addresses) is replaced by its name.
 */
import {spawn} from 'node:child_process';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

export const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));
export const transcripts = fileURLToPath(new URL('transcripts', import.meta.url));

export interface Shell {
  /** Both streams, and how it ended. */
  run(command: string, stdin?: string): Promise<{output: string; code: number}>;
  close(): Promise<void>;
}

const commandLimitMs = 30_000;

/** A shell in the fixtures' folder in which `kubectl` (and `helm`) talk to the cluster of the kubeconfig. */
export async function openShell(kubeconfig: string, programs: readonly string[]): Promise<Shell> {
  const home = await mkdtemp(join(tmpdir(), 'story-'));
  const file = join(home, 'kubeconfig');
  await writeFile(file, kubeconfig, {mode: 0o600});
  const env = {
    PATH: [...programs.map(dirname), process.env['PATH']].join(':'),
    HOME: home,
    KUBECONFIG: file,
    LC_ALL: 'C',
    TZ: 'UTC',
    TMPDIR: home,
    KUBE_EDITOR: 'true',
  };
  return {
    run: (command, stdin = '') =>
      new Promise((done, fail) => {
        const child = spawn('bash', ['-c', command], {cwd: fixtures, env, timeout: commandLimitMs});
        let output = '';
        const collect = (chunk: Buffer) => {
          output += chunk;
        };
        child.stdout.on('data', collect);
        child.stderr.on('data', collect);
        child.on('error', fail);
        child.on('close', (code) => done({output, code: code ?? -1}));
        // Most commands never look.
        child.stdin.on('error', () => {});
        child.stdin.end(stdin);
      }),
    close: () => rm(home, {recursive: true, force: true}),
  };
}

export interface Step {
  command: string;
  output: string;
}

export function parseTranscript(text: string): Step[] {
  const steps: Step[] = [];
  for (const block of text.split(/^\$ /m).slice(1)) {
    const end = block.indexOf('\n');
    steps.push({command: block.slice(0, end), output: block.slice(end + 1).trimEnd()});
  }
  return steps;
}

export const printTranscript = (title: string, steps: readonly Step[]): string =>
  `${title}\n\n${steps.map(({command, output}) => `$ ${command}\n${output ? `${output}\n` : ''}`).join('\n')}`;

/** A namespace to play in, with what controllers would put there: the reference of the recordings runs without them. */
export async function prepare(shell: Shell, namespace: string): Promise<void> {
  const {code, output} = await shell.run(
    `kubectl create namespace ${namespace} && { kubectl create serviceaccount default -n ${namespace}; kubectl config set-context --current --namespace=${namespace}; }`,
  );
  if (code !== 0) throw new Error(output);
}

/** Commands in their order. Steps of a transcript build upon each other, so it is played from its beginning to its end. */
export async function play(shell: Shell, commands: readonly string[]): Promise<Step[]> {
  const steps: Step[] = [];
  for (const command of commands) {
    const {output, code} = await shell.run(command);
    const text = normalize(output);
    steps.push({command, output: code === 0 ? text : [text, `[exit ${code}]`].filter(Boolean).join('\n')});
  }
  return steps;
}

const age = '(?:\\d+y)?(?:\\d+d)?(?:\\d+h)?(?:\\d+m)?\\d+(?:\\.\\d+)?m?s|(?:\\d+d)?(?:\\d+h)?\\d+m|\\d+h|<invalid>';
const replacements: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g, 'TIME'],
  [/\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)? \+0000(?: UTC)?(?: m=\+\S+)?/g, 'TIME'],
  [/[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} \+0000/g, 'TIME'],
  [/^[EIW]\d{4} \d{2}:\d{2}:\d{2}\.\d+ +\d+ /gm, 'LOG '],
  [/(resourceVersion"?: ?)"\d+"/g, '$1"VERSION"'],
  [/https:\/\/(?:127\.0\.0\.1|localhost):\d+/g, 'SERVER'],
  [/\b(?:127\.0\.0\.1|192\.0\.2\.\d+|localhost):\d+/g, 'ENDPOINT'],
  [/\b10\.0\.\d+\.\d+\b/g, 'ADDRESS'],
  [/\b3[0-2]\d{3}\b/g, 'PORT'],
  [/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-SUFFIX'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN'],
  [/\/tmp\/\S*?(?=[/\s]v1\.|\s)/g, 'TMP'],
  [new RegExp(`(?<=\\s|^|\\()(?:${age})(?=\\s|$|\\))`, 'g'), 'AGE'],
];

/** What a run has for itself, as its name. Spaces that line columns up become two; those that indent a line stay in proportion. */
export function normalize(output: string): string {
  let text = output;
  for (const [pattern, name] of replacements) text = text.replace(pattern, name);
  return text
    .split('\n')
    .map((line) => {
      const indent = /^ */.exec(line)![0];
      return (
        indent +
        line
          .slice(indent.length)
          .replace(/ {2,}|\t+/g, '  ')
          .trimEnd()
      );
    })
    .join('\n')
    .trimEnd();
}

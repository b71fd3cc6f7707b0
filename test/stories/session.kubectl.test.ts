/**
 * kubectl at work on a cluster of ours, word for word as on the reference. Needs kubectl: the one of `npm run test:setup` is of the
 * transcripts' release and must say the same; another release is held to what it does not word itself, the exit codes.
 */
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {type Cluster, startCluster} from '../../localstack/library.ts';
import {kubectls} from './programs.ts';
import {openShell, parseTranscript, play, prepare, transcripts} from './session.ts';

const recordedWith = 'v1.36.3';
const storyLimitMs = 120_000;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({inMemory: true});
});
afterAll(() => cluster?.close());

const stories = readdirSync(transcripts).map((file) => basename(file, '.txt'));
/** Enough to tell, and not all over again. */
const storiesForOthers = ['change', 'pods'];
const exitOf = (output: string): string => /^\[exit \d+\]$/m.exec(output)?.[0] ?? '';

describe.skipIf(kubectls.length === 0)('a session at a shell goes as on the reference', () => {
  for (const kubectl of kubectls) {
    const version = versionOf(kubectl);
    for (const name of version === recordedWith ? stories : storiesForOthers)
      test(`${name}, kubectl ${version}`, {timeout: storyLimitMs}, async () => {
        const recorded = parseTranscript(readFileSync(join(transcripts, `${name}.txt`), 'utf8'));
        const copy = await cluster.fork();
        const shell = await openShell(copy.kubeconfig, [kubectl]);
        try {
          await prepare(shell, `story-${name}`);
          const played = await play(
            shell,
            recorded.map(({command}) => command),
          );
          if (version === recordedWith) expect(played).toEqual(recorded);
          else expect(exits(played)).toEqual(exits(recorded));
        } finally {
          await shell.close();
          await copy.close();
        }
      });
  }
});

/** Of the commands that older releases have too. */
const exits = (steps: readonly {command: string; output: string}[]): string[] =>
  steps.filter(({command}) => !newer.some((word) => command.includes(word))).map(({command, output}) => `${command} ${exitOf(output)}`);
const newer = ['autoscale deployment', 'delete service,hpa', '--subresource=resize', 'kubectl debug'];

function versionOf(kubectl: string): string {
  const {clientVersion} = JSON.parse(execFileSync(kubectl, ['version', '--client', '-o', 'json'], {encoding: 'utf8'}));
  return clientVersion.gitVersion;
}

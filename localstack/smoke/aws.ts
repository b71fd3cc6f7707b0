/**
 * `npm run smoke:aws -- --region REGION [--keep] [--yes]`: the smoke test against a real account. Says what it is about to create and asks
 * first; then deploys a cluster of its own, measures it, holds what DynamoDB consumed against the model, and removes it again.
 *   --region REGION  where to; AWS_REGION when absent
 *   --keep           leave the stack there
 *   --yes            do not ask
 */
import {spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {createInterface} from 'node:readline/promises';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {defaultProvider} from '@aws-sdk/credential-provider-node';
import {clusterToken} from '../../shared/auth/aws-iam/presign.ts';
import {describeStack} from '../cli/stack.ts';
import {regionOf, stsHost} from '../cli/token.ts';
import {consumed} from './consumed.ts';
import {type SmokeReport, smoke} from './smoke.ts';

/** CloudWatch is some minutes behind. */
const settleMs = 4 * 60_000;
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

interface Model {
  verbs: Record<string, {readUnits: number; writeUnits: number; milliseconds: number}>;
}

const {values} = parseArgs({
  options: {region: {type: 'string'}, keep: {type: 'boolean', default: false}, yes: {type: 'boolean', default: false}},
});
const region = regionOf(values.region);
const cluster = `smoke-${randomBytes(3).toString('hex')}`;
const stackName = `clusterless-${cluster}`;
const credentials = await defaultProvider()();
process.env['AWS_REGION'] = region;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

say(
  `creates the stack ${stackName} in ${region}${values.keep ? '' : ', and removes it again'}: two APIs, some twenty functions, three tables.`,
);
say('It costs some cents. The region must be bootstrapped for the CDK (npx cdk bootstrap).');
if (!values.yes) {
  const ask = createInterface({input: process.stdin, output: process.stderr});
  const answer = await ask.question('Go on? [y/N] ');
  ask.close();
  if (!/^y(es)?$/i.test(answer.trim())) process.exit(1);
}

const context = ['-c', `cluster=${cluster}`, '-c', 'removalPolicy=destroy'];
try {
  await cdk('deploy', '--require-approval', 'never', ...context);
  const {outputs} = await describeStack(stackName, region);
  const token = (): Promise<string> => clusterToken({credentials, region, host: stsHost(region), cluster, now: new Date()});
  const from = new Date();
  const report = await smoke({url: outputs['Endpoint']!, token}, say);
  await compare(report, outputs['TablePrefix']!, from);
} finally {
  if (values.keep) say(`${stackName} is still there: npm run destroy -- ${context.join(' ')}`);
  else await cdk('destroy', '--force', ...context);
}

async function compare(report: SmokeReport, prefix: string, from: Date): Promise<void> {
  const model = JSON.parse(readFileSync(join(root, 'scripts/cost/calls.json'), 'utf8')) as Model;
  say(`waits ${settleMs / 60_000} minutes for CloudWatch to know`);
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const tables = ['objects', 'log', 'connections'].map((name) => prefix + name);
  const measured = await consumed(region, tables, from, new Date());
  const expected = {readUnits: 0, writeUnits: 0};
  for (const [verb, {requests, p50Ms, p99Ms}] of Object.entries(report.verbs)) {
    const one = model.verbs[verb];
    expected.readUnits += requests * (one?.readUnits ?? 0);
    expected.writeUnits += requests * (one?.writeUnits ?? 0);
    say(
      `${verb.padEnd(10)} ${requests} requests, p50 ${p50Ms} ms, p99 ${p99Ms} ms${one ? `; the model's function takes ${one.milliseconds} ms` : ''}`,
    );
  }
  say(`DynamoDB read units: ${measured.readUnits}, requests alone by the model ${expected.readUnits}`);
  say(`DynamoDB write units: ${measured.writeUnits}, requests alone by the model ${expected.writeUnits}`);
  process.stdout.write(`${JSON.stringify({region, report, measured, expected}, undefined, 2)}\n`);
}

async function cdk(...args: string[]): Promise<void> {
  const child = spawn(process.execPath, [join(root, 'node_modules/aws-cdk/bin/cdk'), ...args], {cwd: root, stdio: ['inherit', 2, 2]});
  const code = await new Promise<number | null>((done, fail) => child.once('error', fail).once('exit', done));
  if (code !== 0) throw new Error(`cdk ${args[0]} ended with ${code}`);
}

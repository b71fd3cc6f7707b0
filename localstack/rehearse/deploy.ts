/** `cdk bootstrap` and `cdk deploy` as anyone would run them, against the emulator. The app is not told that it is a rehearsal. */
import {spawn} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {accountId, region} from './emulator/control-plane.ts';
import type {Toolchain} from './toolchain.ts';

export interface Deployment {
  tools: Toolchain;
  emulatorUrl: string;
  folder: string;
  /** Of `-c key=value`. */
  context: Record<string, string>;
  /** Of the template, by name. */
  parameters: Record<string, string>;
  /** A synthesized assembly, or the command of another app; what cdk.json says otherwise. */
  app?: string;
  log(line: string): void;
}

/** The stack's outputs by name. */
export type Outputs = Record<string, string>;

export async function bootstrap(deployment: Deployment): Promise<void> {
  await cdk(deployment, ['bootstrap', `aws://${accountId}/${region}`]);
}

/** Into the folder `assembly`, which is then the app of all that follows. */
export async function synthesize(deployment: Deployment, assembly: string): Promise<void> {
  await cdk(deployment, ['synth', '--quiet', '--output', assembly]);
}

/** `assembly`: where it was synthesized. */
export async function deploy(deployment: Deployment, assembly: string): Promise<Outputs> {
  const file = join(deployment.folder, 'outputs.json');
  const parameters = Object.entries(deployment.parameters).flatMap(([name, value]) => ['--parameters', `${name}=${value}`]);
  await cdk({...deployment, app: assembly}, ['deploy', '--all', '--require-approval', 'never', ...parameters, '--outputs-file', file]);
  const stacks = JSON.parse(await readFile(file, 'utf8')) as Record<string, Outputs>;
  return Object.assign({}, ...Object.values(stacks));
}

/** What any AWS client needs to talk to the emulator. */
export function emulatorVariables(emulatorUrl: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: emulatorUrl,
    AWS_ENDPOINT_URL_S3: emulatorUrl,
    AWS_ACCESS_KEY_ID: 'rehearsal',
    AWS_SECRET_ACCESS_KEY: 'rehearsal',
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

async function cdk({tools, emulatorUrl, folder, context, app, log}: Deployment, args: string[]): Promise<void> {
  const given = Object.entries(context).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const {AWS_PROFILE: _profile, AWS_CA_BUNDLE: _bundle, ...variables} = process.env;
  const child = spawn(
    process.execPath,
    [tools.cdk, ...args, ...given, ...(app ? ['--app', app] : []), '--ci', '--no-notices', '--no-color'],
    {
      cwd: tools.root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {...variables, ...emulatorVariables(emulatorUrl), CDK_DISABLE_VERSION_CHECK: '1', CDK_HOME: join(folder, 'cdk-home')},
    },
  );
  // It deploys into an emulator that goes with this process.
  const withThis = (): boolean => child.kill('SIGKILL');
  process.once('exit', withThis);
  const said: string[] = [];
  const listen = (piece: Buffer): void => {
    for (const line of piece.toString().split('\n').filter(Boolean)) {
      said.push(line);
      log(line);
    }
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  const code = await new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done));
  process.removeListener('exit', withThis);
  if (code !== 0) throw new Error(`cdk ${args[0]} failed (${code}):\n${said.slice(-30).join('\n')}`);
}

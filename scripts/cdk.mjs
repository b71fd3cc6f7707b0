/**
 * `npm run synth|deploy|destroy|diff -- [flags]`: the CDK command of this repository, with one flag of our own for deploy:
 *   --token-auth-file CSV   static bearer tokens for tests (token,user,uid,"group1,group2"); kept as an encrypted parameter, never in the
 *                           template. Without it a deployment keeps those that it has.
 * Everything else goes to cdk: -c cluster=NAME, -c removalPolicy=destroy, --require-approval never ... (infra/README.md has all settings).
 */
import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {withUsage} from './usage.mjs';

const file = fileURLToPath(import.meta.url);
const root = dirname(dirname(file));
/** Of a parameter of CloudFormation. */
const longestTokenFile = 4_096;

await withUsage(file, process.argv.slice(2), async () => {
  const {tokens} = parseArgs({
    options: {'token-auth-file': {type: 'string'}},
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const own = tokens.find((token) => token.kind === 'option' && token.name === 'token-auth-file');
  const args = process.argv.slice(2);
  if (own) {
    if (!own.value) throw new Error('--token-auth-file wants a file');
    const csv = readFileSync(own.value, 'utf8');
    if (csv.length > longestTokenFile)
      throw new Error(`${own.value} is longer than ${longestTokenFile} characters, which a deployment can carry`);
    args.splice(own.index, own.inlineValue ? 1 : 2, '--parameters', `StaticTokens=${csv}`);
  }
  const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
  const child = spawn(process.execPath, [cdk, ...args], {cwd: root, stdio: 'inherit'});
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
});

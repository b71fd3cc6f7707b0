/**
 * The smoke test of a deployment: node scripts/run.mjs localstack/smoke/main.ts --url URL --token TOKEN [--insecure]
 *   --url URL      the API, with the stage's path
 *   --token TOKEN  a bearer token of an administrator
 *   --insecure     take any certificate, as emulators have their own
 */
import {parseArgs} from 'node:util';
import {smoke} from './smoke.ts';

const {values} = parseArgs({
  options: {url: {type: 'string'}, token: {type: 'string'}, insecure: {type: 'boolean', default: false}},
});
const {url, token, insecure} = values;
if (!url || !token) {
  process.stderr.write('--url and --token are needed\n');
  process.exit(2);
}
const target = {url: url.replace(/\/$/, ''), token: async () => token, insecure};
const report = await smoke(target, (line) => process.stderr.write(`${line}\n`));
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);

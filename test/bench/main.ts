/**
 * npm run bench -- [flags]: measures the built server, and a reference beside it where one is named. Nothing is asserted: the table is
 * for people, --json for whoever draws curves.
 *
 *   --only loads,memory,start,fork,history,size   --seconds 4   --runs 3   --protocol h1|h2   --gzip   --largest 100000   --json
 *   --load BINARY                                 the Go load client instead of our own, where it can
 *   --reference URL --reference-token T --reference-pids P1,P2
 */
import {cpus} from 'node:os';
import {parseArgs} from 'node:util';
import {GoClient, OwnClient} from './clients.ts';
import {type Group, groups, type Row, type Settings} from './scenarios.ts';
import {table} from './table.ts';

/** `cli`: dist/cli.js; `loadScript`: load.ts as a program. */
export async function bench(argv: readonly string[], cli: string, loadScript: string): Promise<void> {
  const {values} = parseArgs({
    args: [...argv],
    options: {
      only: {type: 'string', default: Object.keys(groups).join(',')},
      seconds: {type: 'string', default: '4'},
      runs: {type: 'string', default: '3'},
      protocol: {type: 'string', default: 'h1'},
      gzip: {type: 'boolean', default: false},
      largest: {type: 'string', default: '100000'},
      json: {type: 'boolean', default: false},
      load: {type: 'string'},
      reference: {type: 'string'},
      'reference-token': {type: 'string', default: ''},
      'reference-pids': {type: 'string', default: ''},
    },
  });
  const wanted = values.only.split(',') as Group[];
  const unknown = wanted.filter((group) => !(group in groups));
  if (unknown.length > 0) throw new Error(`--only: there is no ${unknown.join(', ')}`);
  const own = new OwnClient(loadScript);
  const settings: Settings = {
    client: values.load === undefined ? own : new GoClient(values.load, own),
    cli,
    reference:
      values.reference === undefined
        ? undefined
        : {
            url: values.reference,
            token: values['reference-token'],
            pids: values['reference-pids'].split(',').filter(Boolean).map(Number),
          },
    seconds: Number(values.seconds),
    runs: Number(values.runs),
    protocol: values.protocol === 'h2' ? 'h2' : 'h1',
    gzip: values.gzip,
    largest: Number(values.largest),
    progress: (text) => process.stderr.write(`${text}\n`),
  };
  const rows: Row[] = [];
  try {
    for (const group of wanted) {
      try {
        rows.push(...(await groups[group](settings)));
      } catch (error) {
        process.stderr.write(`${group} failed: ${error instanceof Error ? error.stack : String(error)}\n`);
        process.exitCode = 1;
      }
    }
  } finally {
    settings.client.close();
  }
  for (const {name, own: result, reference} of rows)
    for (const {error} of [result, reference ?? {}]) if (error !== undefined) process.stderr.write(`${name}: ${error}\n`);
  if (values.json) {
    const machine = {node: process.version, cpu: cpus()[0]?.model, cores: cpus().length};
    process.stdout.write(`${JSON.stringify({machine, protocol: settings.protocol, rows}, null, 2)}\n`);
  } else process.stdout.write(`${table(rows, settings.reference !== undefined)}\n`);
}

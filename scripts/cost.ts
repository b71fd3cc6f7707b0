/**
 * `npm run cost -- [flags]`: what a cluster costs a month, from measured calls (scripts/cost/calls.json) and list prices
 * (scripts/cost/prices.json, with their date), beside a managed control plane.
 *   --nodes N                 nodes whose agents hold a connection (100)
 *   --writes-per-second N     (0)
 *   --reads-per-second N      of one object (0)
 *   --lists-per-second N      (0)
 *   --watchers N              other programs with a WebSocket connection: controllers, proxies (0)
 *   --watchers-per-change N   connections that each change is sent to (1)
 *   --http-watches N          HTTP watches that are always open (0)
 *   --stored-gb N             of objects (0)
 *   --json                    as JSON
 */
import {parseArgs} from 'node:util';
import {idle, type Usage} from './cost/model.ts';
import {report} from './cost/report.ts';

const flags = {
  nodes: {type: 'string', default: '100'},
  'writes-per-second': {type: 'string', default: '0'},
  'reads-per-second': {type: 'string', default: '0'},
  'lists-per-second': {type: 'string', default: '0'},
  watchers: {type: 'string', default: '0'},
  'watchers-per-change': {type: 'string', default: String(idle.watchersPerChange)},
  'http-watches': {type: 'string', default: '0'},
  'stored-gb': {type: 'string', default: '0'},
  json: {type: 'boolean', default: false},
} as const;

const {values} = parseArgs({options: flags});
const number = (name: Exclude<keyof typeof flags, 'json'>): number => {
  const value = Number(values[name]);
  if (values[name] === '' || !Number.isFinite(value) || value < 0) {
    process.stderr.write(`--${name} is ${JSON.stringify(values[name])}: want a number\n`);
    process.exit(2);
  }
  return value;
};
const usage: Usage = {
  nodes: number('nodes'),
  watchers: number('watchers'),
  httpWatches: number('http-watches'),
  writesPerSecond: number('writes-per-second'),
  readsPerSecond: number('reads-per-second'),
  listsPerSecond: number('lists-per-second'),
  watchersPerChange: number('watchers-per-change'),
  storedGb: number('stored-gb'),
};
process.stdout.write(values.json ? `${JSON.stringify(report(usage), null, 2)}\n` : report(usage).text);

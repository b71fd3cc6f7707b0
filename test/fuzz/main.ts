/**
 * Fuzzes the API for as long as one likes.
 *
 *     fuzz [--seed N] [--seconds S] [--requests N]
 */
import {parseArgs} from 'node:util';
import {fuzz} from './run.ts';

const {values} = parseArgs({
  options: {seed: {type: 'string', default: '1'}, seconds: {type: 'string', default: '60'}, requests: {type: 'string'}},
});
const report = await fuzz({
  seed: Number(values.seed),
  seconds: Number(values.seconds),
  ...(values.requests !== undefined && {requests: Number(values.requests)}),
});
for (const {at, what, request} of report.findings) console.log(`#${at} ${what}\n${request ? `   ${request}\n` : ''}`);
const {findings, ...figures} = report;
console.log(`seed ${values.seed}: ${findings.length} findings`, JSON.stringify(figures));
process.exitCode = findings.length > 0 ? 1 : 0;

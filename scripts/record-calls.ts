/**
 * `node scripts/run.mjs scripts/record-calls.ts CALLS.json...`: adds what rehearsals recorded (calls.json in their folders, and where TEST_RECORD_CALLS
 * tells the rehearsal's test to write it) to
 * infra/recorded-calls.json, which infra/least-privilege.test.ts holds against the roles.
 */
import {readFileSync, writeFileSync} from 'node:fs';
import type {RecordedCall} from '../infra/least-privilege.ts';

const kept = new URL('../infra/recorded-calls.json', import.meta.url);
const nameOf = ({function: by, action, resource, leadingKey = ''}: RecordedCall): string => `${by} ${action} ${resource} ${leadingKey}`;
const calls = new Map<string, RecordedCall>();
for (const file of [kept, ...process.argv.slice(2)])
  for (const call of JSON.parse(readFileSync(file, 'utf8')) as RecordedCall[]) calls.set(nameOf(call), call);
const sorted = [...calls].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, call]) => call);
writeFileSync(kept, `${JSON.stringify(sorted, undefined, 2)}\n`);

/**
 * A store as rows of text, and back: how a former format is kept for tests (data/format-1.json). Rewrite a fixture only when its
 * format was never released: `writeFixture` made it.
 */

import {join} from 'node:path';
import {openEmbedded} from './open.ts';

export interface Row {
  table: string;
  /** Both base64. */
  key: string;
  value: string;
}

const tables = ['versions', 'objects', 'counts', 'meta'];

async function openRaw(path: string) {
  const {open} = await import('lmdb');
  const root = open({path: join(path, 'store.mdb'), noSubdir: true, maxDbs: 8, overlappingSync: false});
  const table = (name: string) => root.openDB<Buffer, Buffer>({name, encoding: 'binary', keyEncoding: 'binary'});
  return {root, table};
}

export async function rowsOf(path: string): Promise<Row[]> {
  const {root, table} = await openRaw(path);
  const rows: Row[] = [];
  for (const name of tables)
    for (const {key, value} of table(name).getRange({}))
      rows.push({table: name, key: Buffer.from(key).toString('base64'), value: Buffer.from(value).toString('base64')});
  await root.close();
  return rows;
}

export async function writeRows(path: string, rows: readonly Row[]): Promise<void> {
  const {root, table} = await openRaw(path);
  for (const row of rows) await table(row.table).put(Buffer.from(row.key, 'base64'), Buffer.from(row.value, 'base64'));
  await root.close();
}

/** Two types, two namespaces, an update, a deletion, something compacted, a name beyond ASCII, an index. */
export async function writeFixture(path: string): Promise<Row[]> {
  const store = await openEmbedded({path, clock: {now: () => 1_767_225_600_000, after: () => () => {}}});
  const put = (type: string, key: string, expected: 'absent' | number, text: string, operation: 'put' | 'delete' = 'put') =>
    store.append({
      type,
      key,
      expected,
      operation,
      encode: (revision) => Buffer.from(JSON.stringify({text, revision})),
      index: {labels: {app: text}, fields: {'status.phase': 'Running'}},
    });
  const a = await put('pods', 'default/a', 'absent', 'one');
  const gone = await put('pods', 'default/gone', 'absent', 'gone');
  await put('clusterroles.rbac.authorization.k8s.io', 'système:é', 'absent', 'role');
  const a2 = await put('pods', 'default/a', a.revision, 'two');
  await store.compact(a2.revision);
  await put('pods', 'other/b', 'absent', 'b');
  await put('pods', 'default/gone', gone.revision, 'gone', 'delete');
  await put('pods', 'default/a', a2.revision, 'three');
  await store.close();
  return rowsOf(path);
}

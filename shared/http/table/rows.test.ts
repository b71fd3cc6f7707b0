import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import type {RowCondition} from '../../kinds/common/columns.table.ts';
import {type KubeObject, parseGroupVersion} from '../../object.ts';
import {toTable} from './table.ts';

/** Rows as the reference printed them at `now`, with their objects in the version in which they were asked for. */
interface Recorded {
  kind: string;
  gv: string;
  stored: string;
  now: number;
  rows: {object: KubeObject; cells: unknown[]; conditions?: RowCondition[]}[];
}

const lines = readFileSync(new URL('./testdata/rows.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const recorded: Recorded[] = lines.map((line) => JSON.parse(line));

describe.each(recorded)('$kind of $gv', ({kind, gv, stored, now, rows}) => {
  const resource = {...parseGroupVersion(gv)!, kind, storage: parseGroupVersion(stored)!};

  test.each(rows)('prints $object.metadata.name as $cells', ({object, cells, conditions}) => {
    const table = toTable({items: [object], listMeta: {}, resource, single: true}, {version: 'v1', includeObject: 'None', now});
    expect(table.rows).toEqual([{cells, ...(conditions && {conditions}), object: null}]);
  });
});

test('flow schemas stand in the order in which they are tried', () => {
  const {rows, now, gv} = recorded.find(({kind}) => kind === 'FlowSchema')!;
  const storage = parseGroupVersion(gv)!;
  const input = {
    items: rows.map(({object}) => object).toReversed(),
    listMeta: {},
    resource: {...storage, kind: 'FlowSchema', storage},
    single: false,
  };
  const table = toTable(input, {version: 'v1', includeObject: 'None', now});
  expect(table.rows!.map(({cells}) => cells)).toEqual(rows.map(({cells}) => cells));
});

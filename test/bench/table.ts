/** The rows as one table; ratios are of ours to the reference's, larger is better for us. */
import type {Row} from './scenarios.ts';

const number = (value: number | undefined, digits: number): string =>
  value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);
const digitsFor = (value: number): number => (value < 10 ? 2 : value < 100 ? 1 : 0);
const adaptive = (value: number | undefined): string => (value === undefined ? '' : number(value, digitsFor(value)));
const ratio = (of: number | undefined, to: number | undefined): string => (of && to ? `${(of / to).toFixed(1)}x` : '');

export function table(rows: readonly Row[], withReference: boolean): string {
  const head = ['', 'ops/s', 'p50 ms', 'p99 ms', 'CPU ms/op'];
  if (withReference) head.push('reference', 'p99 ms', 'CPU ms/op', 'ops', 'p99', 'CPU');
  const cells = rows.map(({name, own, reference, unit}) => {
    if (unit !== undefined) {
      const row = [name, own.value === undefined ? '' : `${adaptive(own.value)} ${unit}`, '', '', ''];
      if (withReference)
        row.push(reference ? `${adaptive(reference.value)} ${unit}` : '', '', '', '', '', ratio(reference?.value, own.value));
      return row;
    }
    const row = [
      own.failed ? `${name} (${own.failed} FAILED)` : name,
      number(own.opsPerSecond, 0),
      ...timesOf(own),
      number(own.cpuMsPerOp, 3),
    ];
    if (withReference)
      row.push(
        number(reference?.opsPerSecond, 0),
        number(reference?.p99Ms, 2),
        number(reference?.cpuMsPerOp, 3),
        ratio(own.opsPerSecond, reference?.opsPerSecond),
        ratio(reference?.p99Ms, own.p99Ms),
        ratio(reference?.cpuMsPerOp, own.cpuMsPerOp),
      );
    return row;
  });
  const all = [head, ...cells];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const lines = all.map(
    (row) => `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join(' | ')} |`,
  );
  lines.splice(1, 0, `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`);
  return lines.join('\n');
}

const timesOf = ({p50Ms, p99Ms}: Row['own']): [string, string] => [number(p50Ms, 2), number(p99Ms, 2)];

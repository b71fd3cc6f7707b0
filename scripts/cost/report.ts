/** The bill as a table, and the three figures that the goals are about. */
import {
  bill,
  calls,
  deadNodeSeconds,
  followedHour,
  idle,
  keystroke,
  type Line,
  perMillionRequests,
  perMillionWrites,
  prices,
  total,
  tunnelFrame,
  tunnelGb,
  tunnelRequest,
  type Usage,
} from './model.ts';

export interface Report {
  lines: Line[];
  monthly: number;
  idle: number;
  perMillionWrites: number;
  idleWithNodes: number;
  managedControlPlane: number;
  text: string;
}

export function report(usage: Usage): Report {
  const lines = bill(usage);
  const figures = {
    lines,
    monthly: total(lines),
    idle: total(bill(idle)),
    perMillionWrites: perMillionWrites({...idle, watchersPerChange: usage.watchersPerChange}),
    idleWithNodes: total(bill({...idle, nodes: usage.nodes})),
    managedControlPlane: prices.managedControlPlaneMonth,
  };
  return {...figures, text: asText(usage, figures)};
}

function asText(usage: Usage, figures: Omit<Report, 'text'>): string {
  const rows = figures.lines.map(({what, perMonth, unit, dollars}) => [what, `${amount(perMonth)} ${unit}`, money(dollars)]);
  const verbs = (Object.keys(calls.verbs) as (keyof typeof calls.verbs)[]).map((verb) => `${verb} ${money(perMillionRequests(verb))}`);
  const further = perMillionWrites({...idle, watchersPerChange: usage.watchersPerChange + 1}) - figures.perMillionWrites;
  return [
    table([
      ['', 'a month', '$'],
      ...rows,
      ['together', '', money(figures.monthly)],
      ['a managed control plane', '', money(figures.managedControlPlane)],
    ]),
    '',
    `idle, besides storage                 ${money(figures.idle)} a month`,
    `idle, ${`${usage.nodes} nodes`.padEnd(31)} ${money(figures.idleWithNodes)} a month`,
    `a million writes, all in              ${money(figures.perMillionWrites)} (sent to ${watchers(usage.watchersPerChange)}; each further one ${money(further)})`,
    `a million requests by themselves      ${verbs.join(', ')}`,
    `through tunnels                       a million requests ${money(tunnelRequest() * 1e6)}, a followed log ${money(followedHour() * 100)} for 100 h and ${money(tunnelGb(tunnelFrame.mailbox))} a GB, exec ${money(keystroke() * 1e6)} a million keystrokes and ${money(tunnelGb(tunnelFrame.relayed))} a GB`,
    `a dead node is known within           ${deadNodeSeconds.closed} s when its connection ends, ${deadNodeSeconds.silent} s when it falls silent`,
    '',
    `prices of ${prices.date} in ${prices.region}, first tier, free tiers left out; calls measured ${calls.measured}`,
    '',
  ].join('\n');
}

const watchers = (count: number): string => (count === 1 ? 'one watcher' : `${count} watchers`);
const money = (dollars: number): string => `$${dollars.toFixed(2)}`;
const amount = (count: number): string =>
  count >= 1e6 ? `${(count / 1e6).toFixed(2)} M` : count >= 100 ? count.toFixed(0) : String(Math.round(count * 100) / 100);

function table(rows: string[][]): string {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(([what, quantity, dollars]) => `${what!.padEnd(widths[0]!)}  ${quantity!.padStart(widths[1]!)}  ${dollars!.padStart(widths[2]!)}`)
    .join('\n');
}

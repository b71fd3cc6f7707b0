/** Endpoints in a table. */
import {ageOf, nameOf, none} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {list, type Part} from '../common/loose.ts';

export const endpointsTable: KindTable = {
  columns: [name, text('Endpoints', 'Addresses with their ports.'), age],
  cells: (object, now) => [nameOf(object), endpointsText(object.subsets), ageOf(object, now)],
};

const maxShown = 3;

function endpointsText(subsets: Part): string {
  if (list(subsets).length === 0) return none;
  const shown: string[] = [];
  let count = 0;
  for (const {addresses, ports} of subsets) {
    // Headless services may have addresses without ports.
    for (const port of list(ports).length ? ports : [undefined]) {
      count += list(addresses).length;
      for (const {ip} of list(addresses)) if (shown.length < maxShown) shown.push(port ? hostPort(ip, port.port) : ip);
    }
  }
  return count > maxShown ? `${shown.join(',')} + ${count - maxShown} more...` : shown.join(',');
}

const hostPort = (ip: string, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

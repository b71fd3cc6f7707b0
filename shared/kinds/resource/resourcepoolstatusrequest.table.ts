/** Requests for the status of resource pools in a table: the devices of all pools together. */
import {nameOf, none, since} from '../common/cells.table.ts';
import {integer, type KindTable, name, text} from '../common/columns.table.ts';
import {list, type Part} from '../common/loose.ts';

export const resourcePoolStatusRequestTable: KindTable = {
  columns: [
    name,
    text('Driver', 'Driver whose pools are meant.'),
    text('Total', 'Devices in all pools.'),
    text('Available', 'Devices that are free.'),
    text('Allocated', 'Devices in use.'),
    text('Unavailable', 'Devices that cannot be used.'),
    text('Errors', 'Pools that are not valid.'),
    integer('Pools', 'Pools that match.'),
    text('Status', 'How far the request is.'),
    text('Completed', 'Time since it was answered.'),
  ],
  cells(object, now) {
    const {spec = {}, status} = object;
    const outcome = list(status?.conditions).find(({type, status: is}) => is === 'True' && (type === 'Complete' || type === 'Failed'));
    const pools = list(status?.pools);
    const poolCount = status?.poolCount ?? 0;
    const isCounted = status && outcome?.type !== 'Failed';
    const sum = (of: (pool: Part) => number | undefined): string =>
      isCounted ? String(pools.reduce((total, pool) => total + (of(pool) ?? 0), 0)) : '-';
    const isCut = outcome?.type === 'Complete' && poolCount > pools.length;
    return [
      nameOf(object),
      spec.driver ?? '',
      sum((pool) => pool.totalDevices),
      sum((pool) => pool.availableDevices),
      sum((pool) => pool.allocatedDevices),
      sum((pool) => pool.unavailableDevices),
      sum((pool) => (typeof pool.validationError === 'string' ? 1 : 0)),
      poolCount,
      isCut ? `Complete (${pools.length}/${poolCount} pools)` : (outcome?.type ?? 'Pending'),
      outcome?.type === 'Complete' ? since(outcome.lastTransitionTime, now) : none,
    ];
  },
};

/**
 * What each function may do: the least actions on the least keys. A test derives the granted actions from the template and holds them
 * against the calls that a rehearsal records, both ways.
 *
 * The letter in a partition key tells the kind (shared/storage/dynamo/keys.ts), so that who reads objects cannot write them. A transaction
 * needs the actions of its parts; there is none of its own.
 */
import type {FunctionName, Parameter} from '../functions/functions.ts';

export type TableName = 'objects' | 'log' | 'connections';

export interface TableGrant {
  table: TableName;
  /** Names of DynamoDB actions, without the service. */
  actions: readonly string[];
  /** Letters of the kinds of partitions; all of the cluster's when absent. */
  kinds?: readonly Kind[];
}

/**
 * object, sequencer, chunk, meta; log; connection, topic, feed (functions/kit/connections.ts), node (tunnels.ts), stream (streams.ts),
 * dependents (owner-index.ts)
 */
export type Kind = 'o' | 's' | 'c' | 'm' | 'l' | 'k' | 't' | 'f' | 'n' | 'x' | 'd';

export interface Grants {
  tables: readonly TableGrant[];
  /** HTTP methods on connections of the WebSocket API. */
  connections?: readonly ('POST' | 'GET' | 'DELETE')[];
  /** What it makes, not only reads. */
  writesParameters?: readonly Parameter[];
}

/**
 * Who reads the log closes it: fills the slots of writers that died, and moves the mark behind which nothing is missing. So a read may
 * write there, never an object.
 */
const follows: readonly TableGrant[] = [
  {table: 'objects', actions: ['GetItem'], kinds: ['s', 'c', 'm']},
  {table: 'objects', actions: ['Query'], kinds: ['o']},
  {table: 'objects', actions: ['UpdateItem'], kinds: ['s']},
  {table: 'log', actions: ['BatchGetItem', 'GetItem', 'PutItem', 'Query'], kinds: ['l']},
  // It waits until the objects show what the log says. All keys of a batch must be granted by one statement (AWS).
  {table: 'objects', actions: ['BatchGetItem'], kinds: ['o', 's']},
];

/** Who answers requests also looks objects up, and what a token is bound to. */
const reads: readonly TableGrant[] = [...follows, {table: 'objects', actions: ['GetItem'], kinds: ['o']}];

const writes: readonly TableGrant[] = [
  ...reads,
  {table: 'objects', actions: ['PutItem'], kinds: ['o', 'c']},
  {table: 'objects', actions: ['BatchWriteItem'], kinds: ['c']},
  {table: 'objects', actions: ['UpdateItem'], kinds: ['m']},
];

/** Bodies that nothing points to are removed, and old tombstones. */
const sweeps: readonly TableGrant[] = [
  ...writes,
  {table: 'objects', actions: ['DeleteItem'], kinds: ['o', 'c']},
  {table: 'objects', actions: ['Query', 'UpdateItem'], kinds: ['c']},
];

const onConnections = (kinds: readonly Kind[], ...actions: string[]): TableGrant => ({table: 'connections', actions, kinds});
/** A connection goes with its subscriptions. */
const closes = [onConnections(['k'], 'Query'), onConnections(['k', 't'], 'BatchWriteItem')];

export const grants: Record<FunctionName, Grants> = {
  create: {tables: writes},
  // Leases of nodes are read with what their connections tell.
  get: {tables: [...reads, onConnections(['n'], 'GetItem')]},
  list: {tables: [...reads, onConnections(['n'], 'Query')]},
  update: {tables: writes},
  patch: {tables: writes},
  delete: {tables: writes},
  'delete-collection': {tables: writes},
  connect: {
    tables: [
      ...reads,
      onConnections(['n'], 'GetItem', 'UpdateItem'),
      onConnections(['k', 'x'], 'BatchWriteItem'),
      onConnections(['x'], 'Query'),
    ],
    connections: ['POST'],
  },
  discovery: {tables: reads},
  openapi: {tables: reads},
  health: {tables: reads},
  metrics: {tables: reads},
  review: {tables: reads},
  'socket-connect': {tables: [...reads, onConnections(['k'], 'PutItem')]},
  'socket-message': {
    tables: [
      ...reads,
      onConnections(['k'], 'Query'),
      onConnections(['k', 't', 'x'], 'BatchWriteItem'),
      onConnections(['k', 't', 'n', 'x'], 'PutItem'),
      onConnections(['t', 'n', 'x'], 'UpdateItem'),
      onConnections(['n', 'x'], 'GetItem'),
      onConnections(['t', 'f'], 'BatchGetItem'),
    ],
    connections: ['POST', 'DELETE'],
  },
  'socket-disconnect': {
    tables: [
      onConnections(['k'], 'Query'),
      onConnections(['k', 't', 'x'], 'BatchWriteItem'),
      onConnections(['n'], 'UpdateItem'),
      onConnections(['x'], 'PutItem'),
    ],
    connections: ['POST'],
  },
  'fan-out': {
    tables: [
      ...follows,
      ...closes,
      onConnections(['t'], 'Query'),
      onConnections(['f'], 'GetItem'),
      onConnections(['t', 'f'], 'UpdateItem'),
    ],
    connections: ['POST', 'DELETE'],
  },
  controllers: {tables: [...writes, onConnections(['d'], 'BatchGetItem', 'PutItem'), onConnections(['d', 'n'], 'Query')]},
  maintenance: {tables: [...sweeps, onConnections(['d'], 'PutItem'), onConnections(['d', 'n'], 'Query')]},
  bootstrap: {tables: writes, writesParameters: ['service-account-key', 'static-tokens', 'client-ca', 'client-ca-key']},
};

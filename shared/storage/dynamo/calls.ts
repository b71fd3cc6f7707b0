/**
 * The calls to DynamoDB that the engine makes, and no other: the seam for doubles, counters and faults. Shapes and errors are the SDK's
 * (an error's `name`, `CancellationReasons` of a cancelled transaction, `Item` of a failed condition), each call is one request: nobody
 * below this line tries again. The engine alone knows what may be repeated, and until when.
 */

import type {
  BatchGetItemCommandInput,
  BatchGetItemCommandOutput,
  BatchWriteItemCommandInput,
  BatchWriteItemCommandOutput,
  CreateTableCommandInput,
  CreateTableCommandOutput,
  DeleteItemCommandInput,
  DeleteItemCommandOutput,
  GetItemCommandInput,
  GetItemCommandOutput,
  PutItemCommandInput,
  PutItemCommandOutput,
  QueryCommandInput,
  QueryCommandOutput,
  TransactGetItemsCommandInput,
  TransactGetItemsCommandOutput,
  TransactWriteItemsCommandInput,
  TransactWriteItemsCommandOutput,
  UpdateItemCommandInput,
  UpdateItemCommandOutput,
  UpdateTimeToLiveCommandInput,
  UpdateTimeToLiveCommandOutput,
} from '@aws-sdk/client-dynamodb';

export interface DynamoCalls {
  getItem(input: GetItemCommandInput, signal?: AbortSignal): Promise<GetItemCommandOutput>;
  batchGetItem(input: BatchGetItemCommandInput, signal?: AbortSignal): Promise<BatchGetItemCommandOutput>;
  query(input: QueryCommandInput, signal?: AbortSignal): Promise<QueryCommandOutput>;
  putItem(input: PutItemCommandInput, signal?: AbortSignal): Promise<PutItemCommandOutput>;
  updateItem(input: UpdateItemCommandInput, signal?: AbortSignal): Promise<UpdateItemCommandOutput>;
  deleteItem(input: DeleteItemCommandInput, signal?: AbortSignal): Promise<DeleteItemCommandOutput>;
  batchWriteItem(input: BatchWriteItemCommandInput, signal?: AbortSignal): Promise<BatchWriteItemCommandOutput>;
  transactWriteItems(input: TransactWriteItemsCommandInput, signal?: AbortSignal): Promise<TransactWriteItemsCommandOutput>;
  transactGetItems(input: TransactGetItemsCommandInput, signal?: AbortSignal): Promise<TransactGetItemsCommandOutput>;
}

/** What making tables takes where no template makes them: tests, and `clusterless up` over DynamoDB Local. */
export interface TableCalls {
  createTable(input: CreateTableCommandInput): Promise<CreateTableCommandOutput>;
  updateTimeToLive(input: UpdateTimeToLiveCommandInput): Promise<UpdateTimeToLiveCommandOutput>;
}

type AllCalls = DynamoCalls & TableCalls;
/** What a call takes, and what it answers, for whoever stands in for the SDK. */
export type InputOf<Name extends keyof AllCalls> = Parameters<AllCalls[Name]>[0];
export type OutputOf<Name extends keyof AllCalls> = Awaited<ReturnType<AllCalls[Name]>>;

/** The calls by name, for what wraps them all. */
export const callNames = [
  'getItem',
  'batchGetItem',
  'query',
  'putItem',
  'updateItem',
  'deleteItem',
  'batchWriteItem',
  'transactWriteItems',
  'transactGetItems',
] as const satisfies readonly (keyof DynamoCalls)[];

export interface AwsOptions {
  region?: string;
  /** For DynamoDB Local and emulators; the platform's own otherwise. */
  endpoint?: string;
  /** The SDK's chain of providers otherwise. */
  credentials?: {accessKeyId: string; secretAccessKey: string; sessionToken?: string};
  /** How long one request may take before it counts as lost. */
  requestTimeoutMs?: number;
  maxSockets?: number;
}

/** The real client, loaded by the first call. */
export function awsCalls(options: AwsOptions = {}): DynamoCalls & TableCalls & {destroy(): void} {
  let loading: Promise<DynamoCalls & TableCalls & {destroy(): void}> | undefined;
  const calls = (): Promise<DynamoCalls & TableCalls & {destroy(): void}> =>
    (loading ??= import('./aws.ts').then(({connected}) => connected(options)));
  return {
    getItem: async (input, signal) => (await calls()).getItem(input, signal),
    batchGetItem: async (input, signal) => (await calls()).batchGetItem(input, signal),
    query: async (input, signal) => (await calls()).query(input, signal),
    putItem: async (input, signal) => (await calls()).putItem(input, signal),
    updateItem: async (input, signal) => (await calls()).updateItem(input, signal),
    deleteItem: async (input, signal) => (await calls()).deleteItem(input, signal),
    batchWriteItem: async (input, signal) => (await calls()).batchWriteItem(input, signal),
    transactWriteItems: async (input, signal) => (await calls()).transactWriteItems(input, signal),
    transactGetItems: async (input, signal) => (await calls()).transactGetItems(input, signal),
    createTable: async (input) => (await calls()).createTable(input),
    updateTimeToLive: async (input) => (await calls()).updateTimeToLive(input),
    destroy: () => void loading?.then((made) => made.destroy()),
  };
}

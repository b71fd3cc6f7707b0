/** The real DynamoDB client behind ./calls.ts: the only file that loads the SDK. Its retries are off; the engine has its own. */

import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import type {AwsOptions, DynamoCalls, TableCalls} from './calls.ts';

/** Well above DynamoDB's p99.99, well below a request's deadline: what is lost is asked for again. */
const defaultRequestTimeoutMs = 5_000;
const connectTimeoutMs = 2_000;

export function connected(options: AwsOptions): DynamoCalls & TableCalls & {destroy(): void} {
  const config: DynamoDBClientConfig = {
    maxAttempts: 1,
    requestHandler: {
      requestTimeout: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
      throwOnRequestTimeout: true,
      connectionTimeout: connectTimeoutMs,
      httpsAgent: {keepAlive: true, maxSockets: options.maxSockets ?? 128},
      httpAgent: {keepAlive: true, maxSockets: options.maxSockets ?? 128},
    },
  };
  if (options.region !== undefined) config.region = options.region;
  if (options.endpoint !== undefined) config.endpoint = options.endpoint;
  if (options.credentials !== undefined) config.credentials = options.credentials;
  const client = new DynamoDBClient(config);
  const until = (signal: AbortSignal | undefined): {abortSignal?: AbortSignal} => (signal ? {abortSignal: signal} : {});
  return {
    getItem: (input, signal) => client.send(new GetItemCommand(input), until(signal)),
    batchGetItem: (input, signal) => client.send(new BatchGetItemCommand(input), until(signal)),
    query: (input, signal) => client.send(new QueryCommand(input), until(signal)),
    putItem: (input, signal) => client.send(new PutItemCommand(input), until(signal)),
    updateItem: (input, signal) => client.send(new UpdateItemCommand(input), until(signal)),
    deleteItem: (input, signal) => client.send(new DeleteItemCommand(input), until(signal)),
    batchWriteItem: (input, signal) => client.send(new BatchWriteItemCommand(input), until(signal)),
    transactWriteItems: (input, signal) => client.send(new TransactWriteItemsCommand(input), until(signal)),
    transactGetItems: (input, signal) => client.send(new TransactGetItemsCommand(input), until(signal)),
    createTable: (input) => client.send(new CreateTableCommand(input)),
    updateTimeToLive: (input) => client.send(new UpdateTimeToLiveCommand(input)),
    destroy: () => client.destroy(),
  };
}

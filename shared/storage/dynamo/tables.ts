/** The two tables of the store, where no template makes them: DynamoDB Local and tests. CDK makes them on AWS. */

import type {TableCalls} from './calls.ts';

export interface Tables {
  /** Objects, sequencers, chunks and what else lives on: pk S, sk S. */
  objects: string;
  /** The change log: pk S, sk N (the revision), TTL attribute `ttl`, stream of new images. */
  log: string;
}

export const tablesOf = (prefix = 'clusterless-'): Tables => ({objects: `${prefix}objects`, log: `${prefix}log`});

/** What is there already stays as it is. */
export async function createTables(client: TableCalls, tables: Tables): Promise<void> {
  const made = await Promise.all([create(client, tables.objects, 'S'), create(client, tables.log, 'N')]);
  if (made[1]) await client.updateTimeToLive({TableName: tables.log, TimeToLiveSpecification: {AttributeName: 'ttl', Enabled: true}});
}

async function create(client: TableCalls, name: string, sortKey: 'S' | 'N'): Promise<boolean> {
  try {
    await client.createTable({
      TableName: name,
      KeySchema: [
        {AttributeName: 'pk', KeyType: 'HASH'},
        {AttributeName: 'sk', KeyType: 'RANGE'},
      ],
      AttributeDefinitions: [
        {AttributeName: 'pk', AttributeType: 'S'},
        {AttributeName: 'sk', AttributeType: sortKey},
      ],
      BillingMode: 'PAY_PER_REQUEST',
      ...(sortKey === 'N' && {StreamSpecification: {StreamEnabled: true, StreamViewType: 'NEW_IMAGE' as const}}),
    });
    return true;
  } catch (error) {
    if ((error as Error).name === 'ResourceInUseException') return false;
    throw error;
  }
}

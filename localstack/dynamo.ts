/** The store of `--store dynamo`: opened where it is, its tables made only where no template would make them. */
import {type Store, StoreError} from '../shared/storage/contract.ts';
import type {DynamoOptions} from './cluster.ts';

/** Emulators take any, and nobody should need an account to try one. */
const anyCredentials = {accessKeyId: 'local', secretAccessKey: 'local'};
const anyRegion = 'us-east-1';

/** @throws StoreError Unavailable (nobody answers there, or there are no tables), NewerFormat */
export async function openDynamo({endpoint, region, tablePrefix, historyMs}: DynamoOptions & {historyMs?: number}): Promise<Store> {
  // That the SDK will need a newer Node one day is ours to heed, not the user's to read at each start.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const [{awsCalls}, {openDynamo: open}, {createTables, tablesOf}] = await Promise.all([
    import('../shared/storage/dynamo/calls.ts'),
    import('../shared/storage/dynamo/open.ts'),
    import('../shared/storage/dynamo/tables.ts'),
  ]);
  const hasOwn = process.env['AWS_ACCESS_KEY_ID'] !== undefined || process.env['AWS_PROFILE'] !== undefined;
  const client = awsCalls({
    ...(endpoint !== undefined && {endpoint, region: anyRegion, ...(!hasOwn && {credentials: anyCredentials})}),
    ...(region !== undefined && {region}),
  });
  const tables = tablesOf(tablePrefix);
  try {
    if (endpoint !== undefined) await createTables(client, tables);
    return await open({client, tables, ...(historyMs !== undefined && {historyMs})});
  } catch (error) {
    client.destroy();
    if (error instanceof StoreError) throw error;
    throw new StoreError('Unavailable', `DynamoDB${endpoint ? ` at ${endpoint}` : ''}: ${messageOf(error)}`, {cause: error});
  }
}

function messageOf(error: unknown): string {
  const {name, message, code} = error as Error & {code?: string};
  if (code === 'ECONNREFUSED') return 'nobody answers there';
  if (name === 'ResourceNotFoundException')
    return 'the tables are not there: deploy them first, or name another --table-prefix or --region';
  return message || name;
}

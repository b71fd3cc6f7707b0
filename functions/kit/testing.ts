/** Functions over a store in memory, for tests: the doors of the kit, and events as API Gateway sends them. */
import {newKey} from '../../shared/auth/certificate-authority.ts';
import {type Clock, ManualClock} from '../../shared/clock.ts';
import type {Store} from '../../shared/storage/contract.ts';
import {DynamoDouble, type Written} from '../../shared/storage/dynamo/double/double.ts';
import {openDynamo} from '../../shared/storage/dynamo/open.ts';
import {createTables} from '../../shared/storage/dynamo/tables.ts';
import {openMemory} from '../../shared/storage/embedded/open.ts';
import type {Parameter} from '../functions.ts';
import {type Doors, doors} from './doors.ts';

export interface TestDoors extends Doors {
  store: Store;
  clock: ManualClock;
  parameters: Map<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was logged
  lines: any[];
}

export const adminToken = 'admin-token';
export const bobToken = 'bob-token';
const tokens = `${adminToken},admin,,system:masters\n${bobToken},bob,\nn2-token,system:node:n2,,"system:nodes,system:masters"\n`;

/** From here on functions that have not been opened reach these; each test file imports the functions anew. */
export async function installDoors(more: Partial<Omit<Doors, 'clock'>> = {}): Promise<TestDoors> {
  const clock = new ManualClock();
  const store = await openMemory({clock});
  const parameters = new Map([['static-tokens', tokens]]);
  const own: TestDoors = {
    calls: async () => Promise.reject(new Error('no tables')),
    openSockets: async () => Promise.reject(new Error('no sockets')),
    store,
    clock,
    parameters,
    lines: [],
    writeLine: (line) => void own.lines.push(line),
    openStore: async () => store,
    async readParameters(path, names) {
      const found = names.flatMap((name): [Parameter, string][] => {
        const value = path === '/test/' ? parameters.get(name) : undefined;
        return value === undefined ? [] : [[name, value]];
      });
      return Object.fromEntries(found);
    },
    async writeParameter(_path, name, value, {replace}) {
      if (parameters.has(name) && !replace) return false;
      parameters.set(name, value);
      return true;
    },
    variables: {
      CLUSTERLESS_OBJECTS_TABLE: 'objects',
      CLUSTERLESS_LOG_TABLE: 'log',
      CLUSTERLESS_CONNECTIONS_TABLE: 'connections',
      CLUSTERLESS_PARAMETERS: '/test',
      CLUSTERLESS_METRICS_NAMESPACE: 'Clusterless/test',
      CLUSTERLESS_SOCKET_CALLBACK: 'https://abcdef1234.execute-api.us-east-1.amazonaws.com/prod',
      CLUSTERLESS_WATCH_SOCKET: 'wss://abcdef1234.execute-api.us-east-1.amazonaws.com/prod',
    },
    ...more,
  };
  Object.assign(doors, own);
  return own;
}

/** The engine over a double of the three tables, and what the stream of the log holds: emptied by who hands it on. */
export async function installTables({
  clock,
  ...more
}: Partial<Doors> & {clock: Clock}): Promise<TestDoors & {double: DynamoDouble; records: object[]}> {
  const double = new DynamoDouble({now: () => clock.now()});
  await createTables(double, {objects: 'objects', log: 'log'});
  await double.createTable({
    TableName: 'connections',
    KeySchema: [
      {AttributeName: 'pk', KeyType: 'HASH'},
      {AttributeName: 'sk', KeyType: 'RANGE'},
    ],
    AttributeDefinitions: [
      {AttributeName: 'pk', AttributeType: 'S'},
      {AttributeName: 'sk', AttributeType: 'S'},
    ],
    BillingMode: 'PAY_PER_REQUEST',
  });
  const records: object[] = [];
  let sequence = 0;
  double.onWrite((written) => {
    const record = recordOf(written, ++sequence);
    if (record) records.push(record);
  });
  const own = await installDoors({
    calls: async () => double,
    openStore: ({cluster, objectsTable, logTable}) =>
      openDynamo({client: double, tables: {objects: objectsTable, log: logTable}, cluster, clock}),
    ...more,
  });
  // Each would make and publish one of its own.
  own.parameters.set('service-account-key', newKey());
  doors.clock = clock;
  return Object.assign(own, {double, records});
}

/** https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html#events-sample-dynamodb, in which bytes are base64. */
function recordOf({table, keys, item}: Written, sequence: number): object | undefined {
  if (table !== 'log' || !item) return undefined;
  const inJson = Object.entries(item).map(([name, value]) => [name, value.B ? {B: Buffer.from(value.B).toString('base64')} : value]);
  return {
    eventID: `c4ca4238a0b923820dcc509a6f75849b${sequence}`,
    eventName: 'INSERT',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'us-east-1',
    dynamodb: {
      Keys: keys,
      NewImage: Object.fromEntries(inJson),
      SequenceNumber: String(sequence).padStart(21, '4'),
      SizeBytes: 26,
      StreamViewType: 'NEW_IMAGE',
    },
    eventSourceARN: 'arn:aws:dynamodb:us-east-1:123456789012:table/log/stream/2026-11-21T00:00:00.000',
  };
}

interface EventOptions {
  headers?: Record<string, string | string[]>;
  body?: string | Uint8Array | object;
  token?: string;
}

/** As in AWS' description of the input format of a proxy integration; only what is asked for differs. */
export function restEvent(method: string, url: string, {headers = {}, body, token = adminToken}: EventOptions = {}): object {
  const [path = '', search = ''] = url.split('?');
  const query = [...new URLSearchParams(search)];
  const sent = Object.entries({Accept: 'application/json', Authorization: `Bearer ${token}`, ...headers});
  const multiValueHeaders = Object.fromEntries(sent.map(([name, value]) => [name, Array.isArray(value) ? value : [value]]));
  const multiValueQueryStringParameters: Record<string, string[]> = {};
  for (const [name] of query) multiValueQueryStringParameters[name] = query.filter(([other]) => other === name).map(([, value]) => value);
  const bytes = body instanceof Uint8Array ? body : undefined;
  return {
    resource: '/{path+}',
    path,
    httpMethod: method,
    headers: Object.fromEntries(sent.map(([name, value]) => [name, Array.isArray(value) ? value.at(-1) : value])),
    multiValueHeaders,
    queryStringParameters: query.length > 0 ? Object.fromEntries(query) : null,
    multiValueQueryStringParameters: query.length > 0 ? multiValueQueryStringParameters : null,
    pathParameters: {path: path.slice(1)},
    stageVariables: null,
    requestContext: {
      accountId: '123456789012',
      apiId: '70ixmpl4fl',
      domainName: '70ixmpl4fl.execute-api.us-east-2.amazonaws.com',
      domainPrefix: '70ixmpl4fl',
      extendedRequestId: 'JKJaXmPLvHcESHA=',
      httpMethod: method,
      identity: {sourceIp: '203.0.113.7', userAgent: 'kubectl/v1.36.3', clientCert: null},
      path: `/prod${path}`,
      protocol: 'HTTP/1.1',
      requestId: 'e6403ace-6c2c-4d3d-a7ad-9a9ad0f3b1f5',
      requestTimeEpoch: 1583798639428,
      resourcePath: '/{path+}',
      stage: 'prod',
    },
    body:
      body === undefined ? null : bytes ? Buffer.from(bytes).toString('base64') : typeof body === 'string' ? body : JSON.stringify(body),
    isBase64Encoded: bytes !== undefined,
  };
}

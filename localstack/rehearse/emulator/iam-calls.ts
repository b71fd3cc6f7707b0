/** Which permissions a request to AWS takes: its actions as IAM names them, on what, and under which leading keys. Pure. */

export interface AwsRequest {
  /** Of the signature's scope. */
  service: string;
  method: string;
  url: string;
  /** The header x-amz-target, or empty. */
  target: string;
  body: string;
}

export interface IamCall {
  action: string;
  resource: string;
  leadingKey?: string;
}

type Item = Record<string, {S?: string}>;

interface DynamoBody {
  TableName?: string;
  Key?: Item;
  Item?: Item;
  KeyConditionExpression?: string;
  ExpressionAttributeValues?: Item;
  RequestItems?: Record<string, {Keys?: Item[]} | Record<string, {Key?: Item; Item?: Item}>[]>;
  TransactItems?: Record<string, {TableName: string; Key?: Item; Item?: Item}>[];
}

export function callsOf({service, method, url, target, body}: AwsRequest): IamCall[] {
  const operation = target.slice(target.lastIndexOf('.') + 1);
  if (service === 'dynamodb') return unique(dynamoCalls(operation, JSON.parse(body)));
  if (service === 'execute-api') return [{action: 'execute-api:ManageConnections', resource: `${method} @connections`}];
  if (service === 'ssm') {
    const {Name, Names, Path} = JSON.parse(body) as {Name?: string; Names?: string[]; Path?: string};
    return (Names ?? [Name ?? Path ?? '*']).map((resource) => ({action: `ssm:${operation}`, resource}));
  }
  if (service === 'lambda') {
    return [{action: method === 'POST' ? 'lambda:InvokeFunction' : 'lambda:GetFunction', resource: url.split('/')[3] ?? '*'}];
  }
  if (service === 'sqs') {
    const {QueueUrl = '*'} = JSON.parse(body) as {QueueUrl?: string};
    return [{action: `sqs:${operation}`, resource: QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1)}];
  }
  const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : body);
  return [{action: `${service}:${operation || (query.get('Action') ?? method)}`, resource: '*'}];
}

/** A transaction and a batch write take the permissions of their parts; a batch read has one of its own. */
function dynamoCalls(operation: string, body: DynamoBody): IamCall[] {
  const call = (name: string, table: string, key: Item | undefined): IamCall => ({
    action: `dynamodb:${name}`,
    resource: table,
    ...(key?.['pk']?.S !== undefined && {leadingKey: leadingKeyOf(key['pk'].S)}),
  });
  if (body.TransactItems) {
    const actions: Record<string, string> = {
      Put: 'PutItem',
      Update: 'UpdateItem',
      Delete: 'DeleteItem',
      ConditionCheck: 'ConditionCheckItem',
      Get: 'GetItem',
    };
    return body.TransactItems.flatMap((part) =>
      Object.entries(part).map(([kind, {TableName, Key, Item}]) => call(actions[kind] ?? kind, TableName, Key ?? Item)),
    );
  }
  if (body.RequestItems) {
    return Object.entries(body.RequestItems).flatMap(([table, asked]) =>
      Array.isArray(asked)
        ? asked.flatMap((part) => Object.values(part).map(({Key, Item}) => call('BatchWriteItem', table, Key ?? Item)))
        : ((asked as {Keys?: Item[]}).Keys ?? []).map((key) => call('BatchGetItem', table, key)),
    );
  }
  if (operation === 'Query') {
    const value = /^\(?\s*(?:#?pk)\s*=\s*(:\w+)/.exec(body.KeyConditionExpression ?? '')?.[1];
    const pk = value && body.ExpressionAttributeValues?.[value];
    return [call(operation, body.TableName ?? '*', pk ? {pk} : undefined)];
  }
  return [call(operation, body.TableName ?? '*', body.Key ?? body.Item)];
}

/** `default|o|pods` is under `default|o|`: the letter is what IAM can tell apart. */
function leadingKeyOf(pk: string): string {
  const parts = pk.split('|');
  return parts.length > 2 ? `${parts[0]}|${parts[1]}|` : pk;
}

function unique(calls: IamCall[]): IamCall[] {
  return [...new Map(calls.map((call) => [JSON.stringify(call), call])).values()];
}

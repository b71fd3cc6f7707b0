/**
 * Which AWS actions each function's role grants, read back from the template, and held against calls that were made: what lacks a grant,
 * and what was granted for nothing. The template is believed, not the table that it was made from.
 */
import type {FunctionName} from '../functions/functions.ts';
import {type FunctionRow, functions} from '../functions/functions.ts';

export interface Grant {
  function: FunctionName;
  /** `dynamodb:PutItem` */
  action: string;
  /** Short: a table without its prefix, a parameter without its path, a method of connections, `queue`, `stream`, `logs`, `*`. */
  resource: string;
  /** Letter of the kind of partitions. */
  kind?: string;
}

/** As a rehearsal records it: by the function's logical id in the template, or by its name. */
export interface RecordedCall {
  function: string;
  action: string;
  resource: string;
  /** `default|o|` */
  leadingKey?: string;
  count: number;
}

export interface Comparison {
  /** Calls for which the role has no grant: they would fail on AWS. */
  lacking: string[];
  /** Grants that nothing needed. */
  unused: string[];
}

// biome-ignore lint/suspicious/noExplicitAny: templates are what CloudFormation says they are
type Json = any;
type Resources = Record<string, {Type: string; Properties: Json}>;

const list = (value: Json): Json[] => (Array.isArray(value) ? value : [value]);

export function grantsOf(resources: Resources): Grant[] {
  return Object.values(resources)
    .filter(({Type}) => Type === 'AWS::Lambda::Function')
    .flatMap(({Properties}) => {
      const name = nameOf(Properties);
      const role = resources[Properties.Role['Fn::GetAtt'][0]]!.Properties;
      const statements: Json[] = role.Policies.flatMap(({PolicyDocument}: Json) => PolicyDocument.Statement);
      return statements.flatMap((statement) => grantsIn(name, statement, resources));
    });
}

const nameOf = ({Description}: Json): FunctionName => Description.replace('clusterless ', '');

function grantsIn(name: FunctionName, {Effect, Action, Resource, Condition}: Json, resources: Resources): Grant[] {
  if (Effect !== 'Allow') return [];
  const keys: (string | undefined)[] = list(Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']);
  return list(Action).flatMap((action: string) =>
    list(Resource).flatMap((resource) =>
      keys.map((key) => ({
        function: name,
        action,
        resource: shortName(resource, resources),
        ...(key !== undefined && {kind: /^[^|]*\|(\w)\|\*$/.exec(key)?.[1] ?? key}),
      })),
    ),
  );
}

function shortName(resource: Json, resources: Resources): string {
  const attribute: [string, string] | undefined = resource['Fn::GetAtt'];
  if (attribute) {
    const {Type, Properties} = resources[attribute[0]]!;
    if (attribute[1] === 'StreamArn') return 'stream';
    if (Type === 'AWS::DynamoDB::GlobalTable') return tableOf(Properties.TableName);
    if (Type === 'AWS::SQS::Queue') return 'queue';
    if (Type === 'AWS::Logs::LogGroup') return 'logs';
  }
  const text =
    typeof resource === 'string'
      ? resource
      : list(resource['Fn::Join']?.[1] ?? [])
          .map((part) => (typeof part === 'string' ? part : '?'))
          .join('');
  return shortText(text);
}

/** Of a call or a grant alike. */
function shortText(text: string): string {
  const connections = /(POST|GET|DELETE)[/ ]@connections/.exec(text);
  if (connections) return `${connections[1]} @connections`;
  const parameter = /(?:^|parameter)\/clusterless\/[^/]+\/(.+)$/.exec(text);
  if (parameter) return parameter[1]!;
  return text === '*' ? '*' : tableOf(text);
}

const tableOf = (name: string): string => /-(objects|log|connections)$/.exec(name)?.[1] ?? name;

/** What a rehearsal does not show, each for its reason. */
const unseen: {actions: readonly string[]; why: string; only?: (grant: Grant) => boolean}[] = [
  {actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], why: 'the platform writes logs in the role’s name'},
  {
    actions: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
    why: 'the platform reads the stream in the role’s name',
  },
  {actions: ['sqs:SendMessage'], why: 'the platform sends what failed for good'},
  {
    actions: ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem'],
    only: ({resource}) => resource === 'log',
    why: 'a slot whose writer died is looked at and filled by whoever reads past it, once in a while',
  },
  {
    actions: ['dynamodb:BatchWriteItem', 'dynamodb:Query'],
    only: ({function: name, resource}) => resource === 'connections' && (name === 'fan-out' || name === 'socket-disconnect'),
    why: 'what a connection leaves behind that went without a word is removed by whoever meets it',
  },
  {
    actions: ['dynamodb:BatchGetItem'],
    only: ({function: name, resource}) => resource === 'connections' && name === 'socket-message',
    why: 'a ping, once a minute, asks how far its topics are',
  },
  {
    actions: ['dynamodb:DeleteItem', 'dynamodb:PutItem'],
    only: ({function: name, resource, kind}) => name === 'maintenance' && resource === 'objects' && kind === 'o',
    why: 'tombstones go after a day, Events after an hour',
  },
  {
    actions: ['dynamodb:BatchGetItem'],
    only: ({resource}) => resource === 'objects',
    why: 'an object that does not show yet what the log says is looked at again by whoever reads past it',
  },
  {
    actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
    only: ({resource, kind}) => resource === 'objects' && (kind === 's' || kind === 'm'),
    why: 'the head of a log is read, and its closed end moved, by whoever has come far; the format is read at the start',
  },
  {
    actions: [
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:BatchWriteItem',
      'dynamodb:Query',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
    ],
    only: ({resource, kind}) => resource === 'objects' && kind === 'c',
    why: 'objects over the limit of an item are few',
  },
  {
    actions: ['dynamodb:GetItem'],
    only: ({function: name, resource, kind}) =>
      resource === 'objects' && kind === 'o' && (functions[name] as FunctionRow).parameters.includes('service-account-key'),
    why: 'the pod or secret that a token is bound to is read when such a token comes',
  },
  {
    actions: ['dynamodb:Query'],
    only: ({function: name, resource, kind}) => name === 'maintenance' && resource === 'connections' && kind === 'n',
    why: 'which nodes live is asked by the clock, each five minutes, as when a change rings',
  },
  {
    actions: ['dynamodb:UpdateItem'],
    only: ({function: name, resource, kind}) => name === 'connect' && resource === 'connections' && kind === 'n',
    why: 'a node whose connection turns out to have ended, of which nobody was told',
  },
  {
    actions: ['dynamodb:GetItem'],
    only: ({resource, kind}) => resource === 'connections' && kind === 'f',
    why: 'who is rung while another sends looks now and then whether that one is done',
  },
  {
    actions: ['dynamodb:PutItem'],
    only: ({function: name, resource, kind}) => name === 'maintenance' && resource === 'connections' && kind === 'd',
    why: 'who depends on whom is put right where a ring was lost',
  },
  {
    actions: ['execute-api:ManageConnections'],
    only: ({resource}) => resource.startsWith('DELETE'),
    why: 'a connection is closed that takes nothing, or whose credential has expired',
  },
];

export function compare(grants: readonly Grant[], calls: readonly RecordedCall[], resources: Resources): Comparison {
  const used = new Set<Grant>();
  const lacking = new Set<string>();
  for (const call of calls) {
    const name =
      call.function in functions
        ? (call.function as FunctionName)
        : nameOf(resources[call.function]?.Properties ?? {Description: call.function});
    const made = {
      function: name,
      action: call.action,
      resource: shortText(call.resource),
      kind: /^[^|]*\|(\w)\|/.exec(call.leadingKey ?? '')?.[1],
    };
    const covering = grants.filter(
      (grant) =>
        grant.function === made.function &&
        grant.action === made.action &&
        (grant.resource === made.resource || grant.resource === '*') &&
        (grant.kind === undefined || grant.kind === made.kind),
    );
    if (covering.length === 0) lacking.add(asText(made));
    for (const grant of covering) used.add(grant);
  }
  // A function that never ran says nothing about what it needs.
  const ran = new Set([...used].map((grant) => grant.function));
  const unused = grants.filter((grant) => ran.has(grant.function) && !used.has(grant) && !isUnseen(grant)).map(asText);
  return {lacking: [...lacking].sort(), unused: [...new Set(unused)].sort()};
}

const isUnseen = (grant: Grant): boolean => unseen.some(({actions, only}) => actions.includes(grant.action) && (only?.(grant) ?? true));

const asText = ({function: name, action, resource, kind}: Omit<Grant, 'kind'> & {kind?: string | undefined}): string =>
  `${name}: ${action} on ${resource}${kind === undefined ? '' : ` (${kind})`}`;

/** Functions of the template that no call was recorded of. */
export function neverRan(calls: readonly RecordedCall[], resources: Resources): FunctionName[] {
  const ran = new Set(
    calls.map((call) => (call.function in functions ? call.function : nameOf(resources[call.function]?.Properties ?? {Description: ''}))),
  );
  return (Object.keys(functions) as FunctionName[]).filter((name) => !ran.has(name));
}

/** A row a function, in Markdown. */
export function grantTable(grants: readonly Grant[]): string {
  const rows = (Object.entries(functions) as [FunctionName, FunctionRow][]).map(([name]) => {
    const own = grants.filter((grant) => grant.function === name);
    const cell = (resource: string): string => {
      const byAction = new Map<string, Set<string>>();
      for (const {action, kind} of own.filter((grant) => grant.resource === resource)) {
        const short = action.slice(action.indexOf(':') + 1);
        byAction.set(short, (byAction.get(short) ?? new Set()).add(kind ?? ''));
      }
      return [...byAction]
        .map(([action, kinds]) => `${action} ${[...kinds].sort().join('')}`.trim())
        .sort()
        .join(', ');
    };
    const others = own
      .filter(({resource}) => !['objects', 'log', 'connections', 'logs'].includes(resource))
      .map(({action, resource}) => `${action} ${resource}`);
    return `| ${name} | ${cell('objects')} | ${cell('log')} | ${cell('connections')} | ${[...new Set(others)].join(', ')} |`;
  });
  return ['| function | objects | log | connections | else |', '|---|---|---|---|---|', ...rows, ''].join('\n');
}

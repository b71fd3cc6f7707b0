/** The functions: a Lambda function, a role and a log group for each row of functions/functions.ts. Who calls them is told elsewhere. */
import {type CfnElement, Duration, RemovalPolicy, Stack} from 'aws-cdk-lib';
import {Effect, PolicyDocument, PolicyStatement, Role, ServicePrincipal} from 'aws-cdk-lib/aws-iam';
import {Architecture, type Code, Function as Lambda, LoggingFormat, Runtime, SystemLogLevel} from 'aws-cdk-lib/aws-lambda';
import {LogGroup, type RetentionDays} from 'aws-cdk-lib/aws-logs';
import {Construct} from 'constructs';
import {type FunctionName, type FunctionRow, functions, type Setting} from '../functions/functions.ts';
import {acknowledge} from './acknowledge.ts';
import {type Grants, grants, type TableGrant} from './permissions.ts';
import {stageName} from './rest-api.ts';
import type {Tables} from './tables.ts';

export type Environment = Record<Setting, string>;

export interface LambdasProps {
  tables: Tables;
  environment: Environment;
  /** Bundles, by name. */
  code(name: FunctionName): Code;
  /** `/clusterless/NAME` */
  parameterPath: string;
  /** What keys of the cluster begin with. */
  keyPrefix: string;
  socketApi: Construct;
  /** ARN of its stage. */
  socketStageArn: string;
  logRetentionDays: RetentionDays;
  reservedConcurrency: number | undefined;
  /** What stream functions need beside their rows: reading the stream, sending what failed. */
  streamStatements(): PolicyStatement[];
  failureStatement(): PolicyStatement;
}

export const functionNames = Object.keys(functions) as FunctionName[];
const rowOf = (name: FunctionName): FunctionRow => functions[name];

export class Lambdas extends Construct {
  readonly #functions = new Map<FunctionName, Lambda>();

  constructor(scope: Construct, id: string, props: LambdasProps) {
    super(scope, id);
    for (const name of functionNames) this.#functions.set(name, this.#make(name, props));
  }

  of(name: FunctionName): Lambda {
    return this.#functions.get(name)!;
  }

  #make(name: FunctionName, props: LambdasProps): Lambda {
    const row = rowOf(name);
    const scope = new Construct(this, name);
    const logGroup = new LogGroup(scope, 'Logs', {retention: props.logRetentionDays, removalPolicy: RemovalPolicy.DESTROY});
    const role = new Role(scope, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `clusterless ${name}`,
      // In the role itself, not beside it: nothing runs before it has all its rights.
      inlinePolicies: {least: new PolicyDocument({statements: statements(scope, name, row, logGroup, props)})},
    });
    acknowledgeWildcards(role, name, row, props);
    return new Lambda(scope, 'Function', {
      description: `clusterless ${name}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: props.code(name),
      // All that it may do is told above: nothing that is connected to it later adds to that.
      role: role.withoutPolicyUpdates(),
      memorySize: row.memoryMb,
      timeout: Duration.seconds(row.timeoutSeconds),
      environment: {
        ...Object.fromEntries(
          row.environment.map((setting) => [setting, props.environment[setting]] as const).filter(([, value]) => value !== ''),
        ),
        NODE_OPTIONS: '--enable-source-maps',
      },
      logGroup,
      // The platform's START, END and REPORT lines would cost more than many a request.
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      ...(row.bounded && props.reservedConcurrency !== undefined && {reservedConcurrentExecutions: props.reservedConcurrency}),
    });
  }
}

/** Keys within a table are bounded by conditions, which the check does not see as wildcards of resources. */
function acknowledgeWildcards(role: Role, name: FunctionName, row: FunctionRow, {socketApi}: LambdasProps): void {
  const granted: Grants = grants[name];
  for (const method of granted.connections ?? [])
    acknowledge(
      role,
      `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<${logicalId(socketApi)}>/${stageName}/${method}/@connections/*]`,
      'connections have names of the moment',
    );
  if (row.trigger === 'log')
    acknowledge(role, 'AwsSolutions-IAM5[Resource::*]', 'dynamodb:ListStreams, which Lambda asks for, takes no resource');
}

const logicalId = (construct: Construct): string => Stack.of(construct).getLogicalId(construct.node.defaultChild as CfnElement);

function statements(scope: Construct, name: FunctionName, row: FunctionRow, logGroup: LogGroup, props: LambdasProps): PolicyStatement[] {
  const granted: Grants = grants[name];
  const parameter = (leaf: string): string =>
    Stack.of(scope).formatArn({service: 'ssm', resource: 'parameter', resourceName: `${props.parameterPath.slice(1)}/${leaf}`});
  return [
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]),
    ...granted.tables.map((grant) => onTable(grant, props)),
    ...(row.parameters.length > 0 ? [allow(['ssm:GetParameters'], row.parameters.map(parameter))] : []),
    ...(granted.writesParameters ? [allow(['ssm:PutParameter'], granted.writesParameters.map(parameter))] : []),
    ...(granted.connections
      ? [
          allow(
            ['execute-api:ManageConnections'],
            granted.connections.map((method) => `${props.socketStageArn}/${method}/@connections/*`),
          ),
        ]
      : []),
    ...(row.trigger === 'log' ? props.streamStatements() : []),
    ...(row.trigger === 'log' || row.trigger === 'schedule' ? [props.failureStatement()] : []),
  ];
}

function onTable({table, actions, kinds}: TableGrant, {tables, keyPrefix}: LambdasProps): PolicyStatement {
  const keys = kinds?.map((kind) => `${keyPrefix}|${kind}|*`) ?? [`${keyPrefix}|*`];
  const statement = allow(
    actions.map((action) => `dynamodb:${action}`),
    [tables[table].tableArn],
  );
  statement.addCondition('ForAllValues:StringLike', {'dynamodb:LeadingKeys': keys});
  return statement;
}

const allow = (actions: string[], resources: string[]): PolicyStatement => new PolicyStatement({effect: Effect.ALLOW, actions, resources});

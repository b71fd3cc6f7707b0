/** What runs without a request: functions that the log's stream rings, those of the clock, and where goes what they could not do. */
import {Duration, RemovalPolicy} from 'aws-cdk-lib';
import {Rule, Schedule} from 'aws-cdk-lib/aws-events';
import {LambdaFunction} from 'aws-cdk-lib/aws-events-targets';
import {PolicyStatement} from 'aws-cdk-lib/aws-iam';
import {
  EventInvokeConfig,
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type Function as Lambda,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import {SqsDestination} from 'aws-cdk-lib/aws-lambda-destinations';
import {SqsDlq} from 'aws-cdk-lib/aws-lambda-event-sources';
import {Queue, QueueEncryption} from 'aws-cdk-lib/aws-sqs';
import {Construct} from 'constructs';
import type {FunctionName, FunctionRow} from '../functions/functions.ts';
import {functions} from '../functions/functions.ts';
import {acknowledge} from './acknowledge.ts';
import {functionNames} from './lambdas.ts';
import type {Tables} from './tables.ts';

/** The stream only says that there is something: whoever is rung reads the log itself. So an old ring is worth nothing. */
const longestRing = Duration.hours(1);
const ringRetries = 10;
const batchSize = 100;
/** Nobody waits for controllers as for a watch, and a ring for several changes costs as much as one for one. */
const gathering: Partial<Record<FunctionName, Duration>> = {controllers: Duration.seconds(2)};
/** What a ring that was lost would have caused is done by the clock. */
const maintenanceEvery = Duration.minutes(5);

export class ChangeFeed extends Construct {
  /** Rings and runs that failed for good. They hold no objects, only where the stream was. */
  readonly failures: Queue;
  readonly #tables: Tables;

  constructor(scope: Construct, id: string, tables: Tables) {
    super(scope, id);
    this.#tables = tables;
    this.failures = new Queue(this, 'Failures', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    acknowledge(this.failures, 'AwsSolutions-SQS3', 'it is the dead-letter queue');
  }

  /** What Lambda does in a function's name to read the stream. */
  streamStatements(): PolicyStatement[] {
    return [
      new PolicyStatement({
        actions: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
        resources: [this.#tables.log.tableStreamArn!],
      }),
      // Cannot be narrowed (AWS).
      new PolicyStatement({actions: ['dynamodb:ListStreams'], resources: ['*']}),
    ];
  }

  failureStatement(): PolicyStatement {
    return new PolicyStatement({actions: ['sqs:SendMessage'], resources: [this.failures.queueArn]});
  }

  mount(lambdaOf: (name: FunctionName) => Lambda): void {
    for (const name of functionNames) {
      const {trigger}: FunctionRow = functions[name];
      if (trigger === 'log') this.#ring(name, lambdaOf(name));
      if (trigger === 'schedule') this.#schedule(name, lambdaOf(name));
    }
  }

  #ring(name: FunctionName, target: Lambda): void {
    new EventSourceMapping(this, `${name} rung`, {
      target,
      eventSourceArn: this.#tables.log.tableStreamArn!,
      // The latest may miss what comes while the mapping is made.
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize,
      maxBatchingWindow: gathering[name] ?? Duration.seconds(0),
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      retryAttempts: ringRetries,
      maxRecordAge: longestRing,
      // Records that expire are removals.
      filters: [FilterCriteria.filter({eventName: FilterRule.isEqual('INSERT')})],
      onFailure: new SqsDlq(this.failures),
    });
  }

  #schedule(name: FunctionName, target: Lambda): void {
    // An asynchronous call, so what fails is tried again and then told.
    new EventInvokeConfig(this, `${name} failed`, {
      function: target,
      retryAttempts: 1,
      maxEventAge: maintenanceEvery,
      onFailure: new SqsDestination(this.failures),
    });
    new Rule(this, `${name} by the clock`, {
      description: `clusterless ${name}`,
      schedule: Schedule.rate(maintenanceEvery),
      targets: [new LambdaFunction(target, {maxEventAge: maintenanceEvery, retryAttempts: 1})],
    });
  }
}

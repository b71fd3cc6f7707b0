/**
 * The alarms, few on purpose: each metric of one costs $0.10 a month, and an idle cluster should cost less than a dollar. So failures are
 * watched where they come together: at the gateway, in the queue of failures, at the stream.
 */
import {Duration} from 'aws-cdk-lib';
import {Alarm, ComparisonOperator, type IMetric, MathExpression, Metric, TreatMissingData} from 'aws-cdk-lib/aws-cloudwatch';
import {SnsAction} from 'aws-cdk-lib/aws-cloudwatch-actions';
import type {Function as Lambda} from 'aws-cdk-lib/aws-lambda';
import {Topic} from 'aws-cdk-lib/aws-sns';
import type {Queue} from 'aws-cdk-lib/aws-sqs';
import {Construct} from 'constructs';
import type {FunctionName} from '../functions/functions.ts';
import type {Rest} from './rest-api.ts';
import type {Settings} from './settings.ts';
import type {Tables} from './tables.ts';

const period = Duration.minutes(5);
/** The share of requests that may fail. */
const failureShare = 0.01;
/** How far watchers may be behind. */
const longestDelay = Duration.minutes(1);

export interface AlarmsProps extends Pick<Settings, 'cluster' | 'alarmTopicArn'> {
  rest: Rest;
  tables: Tables;
  failures: Queue;
  lambdaOf(name: FunctionName): Lambda;
}

export class Alarms extends Construct {
  constructor(scope: Construct, id: string, {cluster, alarmTopicArn, rest, tables, failures, lambdaOf}: AlarmsProps) {
    super(scope, id);
    const topic = alarmTopicArn === undefined ? undefined : Topic.fromTopicArn(this, 'Topic', alarmTopicArn);
    const alarm = (name: string, description: string, metric: IMetric, threshold: number, evaluationPeriods = 1): void => {
      const made = new Alarm(this, name, {
        alarmDescription: `clusterless ${cluster}: ${description}`,
        metric,
        threshold,
        evaluationPeriods,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
      if (topic) made.addAlarmAction(new SnsAction(topic));
    };

    // The average of ones and zeros is the share.
    const failed = rest.api.metricServerError({period, statistic: 'Average'});
    alarm('ServerErrors', `more than ${failureShare * 100} % of requests fail`, failed, failureShare, 2);

    const age = lambdaOf('fan-out').metric('IteratorAge', {period, statistic: 'Maximum'});
    alarm('IteratorAge', 'watchers over WebSockets are told late', age, longestDelay.toMilliseconds());

    const undone = failures.metricApproximateNumberOfMessagesVisible({period, statistic: 'Maximum'});
    alarm('Failures', 'controllers, maintenance or fan-out gave up on something; the queue says on what', undone, 0);

    // Without a dimension: of all functions of the account, which share one pool.
    const refused = new Metric({namespace: 'AWS/Lambda', metricName: 'Throttles', period, statistic: 'Sum'});
    alarm('FunctionThrottles', 'functions of this account and region are refused for want of concurrency', refused, 0, 2);

    const throttled = new MathExpression({
      label: 'throttled writes',
      expression: 'objects + log',
      usingMetrics: {objects: writeThrottles(tables.objects.tableName), log: writeThrottles(tables.log.tableName)},
      period,
    });
    alarm('TableThrottles', 'writes meet a limit of DynamoDB; they are tried again, so clients see delay', throttled, 10, 2);
  }
}

const writeThrottles = (TableName: string): Metric =>
  new Metric({namespace: 'AWS/DynamoDB', metricName: 'WriteThrottleEvents', dimensionsMap: {TableName}, period, statistic: 'Sum'});

/** The three tables. What lies where is told by shared/storage/dynamo/keys.ts; a policy can tell kinds apart by the letter in a key. */
import {RemovalPolicy} from 'aws-cdk-lib';
import {AttributeType, Billing, StreamViewType, TableV2} from 'aws-cdk-lib/aws-dynamodb';
import {Construct} from 'constructs';
import type {Settings} from './settings.ts';

export class Tables extends Construct {
  /** Objects, sequencers, chunks, meta. Nothing here may expire by itself. */
  readonly objects: TableV2;
  /** The change log. Records behind the history expire; the stream is a doorbell. */
  readonly log: TableV2;
  /** What can be made again: WebSocket connections with what they subscribed to, and who depends on whom. */
  readonly connections: TableV2;

  constructor(scope: Construct, id: string, {tablePrefix, retain}: Pick<Settings, 'tablePrefix' | 'retain'>) {
    super(scope, id);
    const common = {
      partitionKey: {name: 'pk', type: AttributeType.STRING},
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: {pointInTimeRecoveryEnabled: true},
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: retain,
    };
    this.objects = new TableV2(this, 'Objects', {
      ...common,
      tableName: `${tablePrefix}objects`,
      sortKey: {name: 'sk', type: AttributeType.STRING},
    });
    this.log = new TableV2(this, 'Log', {
      ...common,
      tableName: `${tablePrefix}log`,
      sortKey: {name: 'sk', type: AttributeType.NUMBER},
      timeToLiveAttribute: 'ttl',
      dynamoStream: StreamViewType.NEW_IMAGE,
    });
    this.connections = new TableV2(this, 'Connections', {
      ...common,
      tableName: `${tablePrefix}connections`,
      sortKey: {name: 'sk', type: AttributeType.STRING},
      timeToLiveAttribute: 'ttl',
    });
  }
}

/** The WebSocket API: connections that carry many watches each. What is said over them is in docs/watch-protocol.md. */
import {RemovalPolicy, Stack} from 'aws-cdk-lib';
import {AccessLogFormat} from 'aws-cdk-lib/aws-apigateway';
import {LogGroupLogDestination, WebSocketApi, WebSocketStage} from 'aws-cdk-lib/aws-apigatewayv2';
import {WebSocketLambdaIntegration} from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type {Function as Lambda} from 'aws-cdk-lib/aws-lambda';
import {LogGroup, type RetentionDays} from 'aws-cdk-lib/aws-logs';
import {Construct} from 'constructs';
import type {FunctionName} from '../functions/functions.ts';
import {acknowledge} from './acknowledge.ts';
import {stageName} from './rest-api.ts';
import type {Settings} from './settings.ts';

const socketRoutes = {$connect: 'socket-connect', $disconnect: 'socket-disconnect', $default: 'socket-message'} as const satisfies Record<
  string,
  FunctionName
>;

/** Connections come and go, frames of clients are few: what would be a flood. */
const requestsPerSecond = 500;
const burst = 1_000;

const accessLog = AccessLogFormat.custom(
  JSON.stringify({
    id: '$context.requestId',
    at: '$context.requestTimeEpoch',
    ip: '$context.identity.sourceIp',
    connection: '$context.connectionId',
    event: '$context.eventType',
    status: '$context.status',
    error: '$context.error.messageString',
  }),
);

export interface SocketsProps extends Pick<Settings, 'cluster'> {
  logRetentionDays: RetentionDays;
}

export class Sockets extends Construct {
  readonly api: WebSocketApi;
  /** Where clients connect. */
  readonly endpoint: string;
  /** Where functions post to connections. */
  readonly callbackUrl: string;
  /** `arn:aws:execute-api:REGION:ACCOUNT:API/STAGE` */
  readonly stageArn: string;
  readonly #logRetentionDays: RetentionDays;

  constructor(scope: Construct, id: string, {cluster, logRetentionDays}: SocketsProps) {
    super(scope, id);
    this.#logRetentionDays = logRetentionDays;
    this.api = new WebSocketApi(this, 'Api', {apiName: `clusterless-${cluster}-watches`});
    const stack = Stack.of(this);
    const host = `${this.api.apiId}.execute-api.${stack.region}.${stack.urlSuffix}/${stageName}`;
    // Written out: the stage's own attributes would make the functions wait for the stage, which waits for them.
    this.endpoint = `wss://${host}`;
    this.callbackUrl = `https://${host}`;
    this.stageArn = stack.formatArn({service: 'execute-api', resource: this.api.apiId, resourceName: stageName});
    acknowledge(this.api, 'AwsSolutions-APIG4', 'the function of $connect authenticates, by the tokens that the REST API takes');
  }

  mount(lambdaOf: (name: FunctionName) => Lambda): void {
    const routes = Object.entries(socketRoutes).map(([route, name]) =>
      this.api.addRoute(route, {integration: new WebSocketLambdaIntegration(name, lambdaOf(name))}),
    );
    const logGroup = new LogGroup(this, 'AccessLogs', {retention: this.#logRetentionDays, removalPolicy: RemovalPolicy.DESTROY});
    const stage = new WebSocketStage(this, 'Stage', {
      webSocketApi: this.api,
      stageName,
      autoDeploy: true,
      throttle: {rateLimit: requestsPerSecond, burstLimit: burst},
      accessLogSettings: {destination: new LogGroupLogDestination(logGroup), format: accessLog},
    });
    stage.node.addDependency(...routes);
  }
}

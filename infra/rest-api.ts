/** The REST API: the route table's rows as resources and methods. Authentication and authorization are the functions' own. */
import {Duration, RemovalPolicy} from 'aws-cdk-lib';
import {
  AccessLogFormat,
  EndpointType,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseTransferMode,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type {Function as Lambda} from 'aws-cdk-lib/aws-lambda';
import {LogGroup, type RetentionDays} from 'aws-cdk-lib/aws-logs';
import {Construct} from 'constructs';
import {type FunctionName, type FunctionRow, functions} from '../functions/functions.ts';
import {routes} from '../shared/http/routes.ts';
import {acknowledge} from './acknowledge.ts';
import {addGatewayResponses} from './gateway-responses.ts';
import {type Node, resourceTree} from './resource-tree.ts';
import type {Settings} from './settings.ts';

/** What every path under execute-api begins with. A name that stays when versions come and go. */
export const stageName = 'k8s';

/** What API Gateway waits for a buffered answer, and for the last byte of a streamed one. */
const bufferedTimeout = Duration.seconds(29);
const streamedTimeout = Duration.minutes(15);

/** One line a request, no more than is asked for: they are paid by the byte. */
const accessLog = AccessLogFormat.custom(
  JSON.stringify({
    id: '$context.requestId',
    at: '$context.requestTimeEpoch',
    ip: '$context.identity.sourceIp',
    method: '$context.httpMethod',
    path: '$context.path',
    status: '$context.status',
    ms: '$context.responseLatency',
    first: '$context.integration.timeToFirstContent',
    mode: '$context.integration.responseTransferMode',
    error: '$context.error.responseType',
  }),
);

export interface RestProps extends Pick<Settings, 'cluster' | 'throttle'> {
  logRetentionDays: RetentionDays;
  /** Off where a host name of the deployment's own serves instead. */
  executeApiEndpoint: boolean;
}

/** In two steps, since the functions are told where they can be reached before they are there to be mounted. */
export class Rest extends Construct {
  readonly api: RestApi;

  constructor(scope: Construct, id: string, {cluster, throttle, logRetentionDays, executeApiEndpoint}: RestProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'AccessLogs', {retention: logRetentionDays, removalPolicy: RemovalPolicy.DESTROY});
    this.api = new RestApi(this, 'Api', {
      restApiName: `clusterless-${cluster}`,
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: !executeApiEndpoint,
      // Bodies are bytes: what they are is told by their own header, and Accept lists several.
      binaryMediaTypes: ['*/*'],
      deployOptions: {
        stageName,
        accessLogDestination: new LogGroupLogDestination(logGroup),
        accessLogFormat: accessLog,
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        metricsEnabled: false,
        throttlingRateLimit: throttle.requestsPerSecond,
        throttlingBurstLimit: throttle.burst,
      },
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    });
    // An output of its own, under a name that nobody knows.
    this.api.node.tryRemoveChild('Endpoint');
    addGatewayResponses(this.api);
    acknowledge(this.api, 'AwsSolutions-APIG2', 'the API validates requests itself, in the words of a Kubernetes API server');
    acknowledge(
      this.api,
      'AwsSolutions-APIG3',
      'no web application firewall by default: it costs more than an idle cluster; attach one where it is wanted',
    );
    acknowledge(
      this.api,
      'AwsSolutions-APIG4',
      'functions authenticate: bearer tokens of several kinds, certificates, and anonymous requests for health',
    );
    acknowledge(this.api, 'AwsSolutions-COG4', 'clients of a Kubernetes API bring its tokens, not those of a Cognito pool');
    acknowledge(
      this.api,
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      "API Gateway's own policy for the role with which it writes logs, as AWS documents it",
    );
  }

  mount(lambdaOf: (name: FunctionName) => Lambda): void {
    const integrations = new Map<FunctionName, LambdaIntegration>();
    const integration = (name: FunctionName): LambdaIntegration => {
      const known = integrations.get(name);
      if (known) return known;
      const {streams}: FunctionRow = functions[name];
      const made = new LambdaIntegration(lambdaOf(name), {
        // One permission a function, for this API alone; one a method would fill its policy.
        scopePermissionToMethod: false,
        responseTransferMode: streams ? ResponseTransferMode.STREAM : ResponseTransferMode.BUFFERED,
        timeout: streams ? streamedTimeout : bufferedTimeout,
      });
      integrations.set(name, made);
      return made;
    };
    const walk = (node: Node, resource: IResource): void => {
      for (const [method, row] of node.rows) resource.addMethod(method === '*' ? 'ANY' : method, integration(row.function as FunctionName));
      for (const child of node.children.values()) walk(child, resource.addResource(child.part));
    };
    walk(resourceTree(routes), this.api.root);
  }
}

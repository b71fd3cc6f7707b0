/** One cluster in an account: the parts, and how they know of each other. */
import {CfnOutput, CfnParameter, CustomResource, Stack, type StackProps} from 'aws-cdk-lib';
import type {Code} from 'aws-cdk-lib/aws-lambda';
import type {RetentionDays} from 'aws-cdk-lib/aws-logs';
import {StringParameter} from 'aws-cdk-lib/aws-ssm';
import type {Construct} from 'constructs';
import type {FunctionName} from '../functions/functions.ts';
import type {IdentityDocument} from '../shared/auth/aws-iam/identities.ts';
import {Alarms} from './alarms.ts';
import {ChangeFeed} from './change-feed.ts';
import {Domains} from './domains.ts';
import {type Environment, Lambdas} from './lambdas.ts';
import {Rest, stageName} from './rest-api.ts';
import type {Settings} from './settings.ts';
import {Sockets} from './socket-api.ts';
import {Tables} from './tables.ts';

export interface ClusterProps extends StackProps {
  settings: Settings;
  /** The bundle of a function. */
  code(name: FunctionName): Code;
  /** Changes when what deployments run changes: each release looks after its cluster's data. */
  release: string;
}

/** What keys in the tables begin with. The tables are this cluster's own, so it is what every engine takes when nobody says otherwise. */
const keyPrefix = 'default';
/** Of a custom resource's properties. */
const longestTokenFile = 4_096;

export class ClusterStack extends Stack {
  constructor(scope: Construct, id: string, {settings, code, release, ...props}: ClusterProps) {
    super(scope, id, {description: `Clusterless control plane of ${settings.cluster}`, terminationProtection: settings.retain, ...props});
    const {cluster, domain} = settings;
    const logRetentionDays = settings.logRetentionDays as RetentionDays;
    const parameterPath = `/clusterless/${cluster}`;

    const tables = new Tables(this, 'Tables', settings);
    const rest = new Rest(this, 'Rest', {...settings, logRetentionDays, executeApiEndpoint: domain === undefined});
    const sockets = new Sockets(this, 'Sockets', {cluster, logRetentionDays});
    const feed = new ChangeFeed(this, 'ChangeFeed', tables);

    const host = domain?.name ?? `${rest.api.restApiId}.execute-api.${this.region}.${this.urlSuffix}`;
    const basePath = domain ? '' : `/${stageName}`;
    const environment: Environment = {
      CLUSTERLESS_CLUSTER: keyPrefix,
      CLUSTERLESS_OBJECTS_TABLE: tables.objects.tableName,
      CLUSTERLESS_LOG_TABLE: tables.log.tableName,
      CLUSTERLESS_CONNECTIONS_TABLE: tables.connections.tableName,
      CLUSTERLESS_PARAMETERS: parameterPath,
      CLUSTERLESS_ADVERTISE: `${host}:443`,
      // The stage is no part of what a function sees, and neither host name is mapped below a path.
      CLUSTERLESS_BASE_PATH: '',
      CLUSTERLESS_ISSUER: settings.issuer,
      CLUSTERLESS_SERVICE_IP_RANGE: settings.serviceIpRange,
      CLUSTERLESS_NODE_PORT_RANGE: settings.nodePortRange,
      CLUSTERLESS_HISTORY_SECONDS: String(settings.historySeconds),
      CLUSTERLESS_METRICS_NAMESPACE: `Clusterless/${cluster}`,
      CLUSTERLESS_SOCKET_CALLBACK: sockets.callbackUrl,
      CLUSTERLESS_WATCH_SOCKET: sockets.endpoint,
    };
    const lambdas = new Lambdas(this, 'Functions', {
      tables,
      environment,
      code,
      parameterPath,
      keyPrefix,
      socketApi: sockets.api,
      socketStageArn: sockets.stageArn,
      logRetentionDays,
      reservedConcurrency: settings.watchConcurrency,
      streamStatements: () => feed.streamStatements(),
      failureStatement: () => feed.failureStatement(),
    });
    const lambdaOf = (name: FunctionName) => lambdas.of(name);
    rest.mount(lambdaOf);
    sockets.mount(lambdaOf);
    feed.mount(lambdaOf);
    new Domains(this, 'Domains', rest.api, settings);
    new Alarms(this, 'Alarms', {cluster, alarmTopicArn: settings.alarmTopicArn, rest, tables, failures: feed.failures, lambdaOf});

    // Who is who is no secret, and reading it back shows what was deployed.
    const document: IdentityDocument = {cluster, identities: settings.identities};
    const identities = new StringParameter(this, 'Identities', {
      parameterName: `${parameterPath}/identities`,
      description: `AWS principals that are users of ${cluster}`,
      stringValue: JSON.stringify(document),
    });

    const staticTokens = new CfnParameter(this, 'StaticTokens', {
      description: 'For tests: lines of token,user,uid,"group1,group2"; kept as an encrypted parameter',
      default: '',
      noEcho: true,
      maxLength: longestTokenFile,
    });
    const bootstrap = new CustomResource(this, 'Bootstrap', {
      resourceType: 'Custom::ClusterlessBootstrap',
      serviceToken: lambdas.of('bootstrap').functionArn,
      properties: {release, staticTokens: staticTokens.valueAsString},
    });
    bootstrap.node.addDependency(tables, identities);

    const endpoint = `https://${host}${basePath}`;
    const output = (name: string, description: string, value: string): CfnOutput => new CfnOutput(this, name, {description, value});
    output('Cluster', 'the name that tokens are for', cluster);
    output('Endpoint', 'the Kubernetes API', endpoint);
    output('WebSocketEndpoint', 'watches over one connection', sockets.endpoint);
    output(
      'CertificateAuthority',
      "PEM of the cluster's own CA, which signs client certificates; the endpoint's certificate is a public one",
      bootstrap.getAttString('ClientCa'),
    );
    output('TablePrefix', 'for clusterless up --store dynamo', settings.tablePrefix);
    output('Kubeconfig', 'writes a kubeconfig', `clusterless kubeconfig --stack ${this.stackName} --region ${this.region}`);
  }
}

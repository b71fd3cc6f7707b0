import {Match} from 'aws-cdk-lib/assertions';
import {describe, expect, test} from 'vitest';
import {type FunctionName, type FunctionRow, functions} from '../functions/functions.ts';
import {routes} from '../shared/http/routes.ts';
import {nodesOf, resourceTree} from './resource-tree.ts';
import {synthesize} from './testing.ts';

const stack = synthesize({}, {check: true});
const {template, resources, ofType} = stack;

const functionId = (name: FunctionName): string =>
  ofType('AWS::Lambda::Function').find(([, {Properties}]) => Properties['Description'] === `clusterless ${name}`)![0];
const nameOfFunction = (id: string): FunctionName => resources[id]!.Properties['Description'].slice('clusterless '.length);

describe('the stack of a cluster', () => {
  test('passes the checks of AwsSolutions', () => {
    // `check` makes a finding that nobody acknowledged an error.
    expect(Object.keys(resources).length).toBeGreaterThan(100);
  });

  test('stays far from the 500 resources of a stack', () => {
    expect(Object.keys(resources).length).toBeLessThan(450);
  });

  test('has a function for each row, as the row says', () => {
    for (const [name, row] of Object.entries(functions) as [FunctionName, FunctionRow][]) {
      const {Properties} = resources[functionId(name)]!;
      expect(Properties, name).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        MemorySize: row.memoryMb,
        Timeout: row.timeoutSeconds,
      });
      expect(Object.keys(Properties['Environment'].Variables), name).toEqual(
        expect.arrayContaining(row.environment.filter((setting) => setting !== 'CLUSTERLESS_BASE_PATH')),
      );
    }
    template.resourceCountIs('AWS::Lambda::Function', Object.keys(functions).length);
  });

  test('has a role for each function, with nothing from elsewhere', () => {
    const roles = ofType('AWS::Lambda::Function').map(([, {Properties}]) => Properties['Role']['Fn::GetAtt'][0]);
    expect(new Set(roles).size).toBe(roles.length);
    for (const role of roles) expect(resources[role]!.Properties['ManagedPolicyArns']).toBeUndefined();
    template.resourceCountIs('AWS::IAM::Policy', 0);
  });

  test('says where it is, and how to reach it', () => {
    expect(Object.keys(template.toJSON()['Outputs']).sort()).toEqual([
      'CertificateAuthority',
      'Cluster',
      'Endpoint',
      'Kubeconfig',
      'TablePrefix',
      'WebSocketEndpoint',
    ]);
  });

  test('tells who asks for the version where watches share a connection, and nobody else', () => {
    const {Value} = template.toJSON()['Outputs']['WebSocketEndpoint'];
    const [scheme, , ...rest] = Value['Fn::Join'][1];
    expect([scheme, rest.at(-1)]).toEqual(['wss://', '/k8s']);
    const told = ofType('AWS::Lambda::Function').filter(
      ([, {Properties}]) => 'CLUSTERLESS_WATCH_SOCKET' in Properties['Environment'].Variables,
    );
    expect(told.map(([id, {Properties}]) => [nameOfFunction(id), Properties['Environment'].Variables['CLUSTERLESS_WATCH_SOCKET']])).toEqual(
      [['discovery', Value]],
    );
  });

  test('carries no secret', () => {
    const text = JSON.stringify(template.toJSON());
    expect(text).not.toMatch(/PRIVATE KEY|BEGIN CERTIFICATE/);
    template.hasParameter('StaticTokens', {NoEcho: true, Default: ''});
  });
});

describe('the REST API', () => {
  const pathOf = (id: string): string => {
    const {ParentId, PathPart} = resources[id]!.Properties;
    return `${ParentId.Ref ? pathOf(ParentId.Ref) : ''}/${PathPart}`;
  };

  test('has the methods of the route table, no less and no more, each at its function', () => {
    const mounted = ofType('AWS::ApiGateway::Method').map(([, {Properties}]) => {
      const {HttpMethod, ResourceId, Integration} = Properties;
      const uri = JSON.stringify(Integration.Uri);
      const target = nameOfFunction(/"Fn::GetAtt":\["(\w+)","Arn"\]/.exec(uri)![1]!);
      return `${HttpMethod} ${ResourceId.Ref ? pathOf(ResourceId.Ref) : ''} ${target} ${Integration.ResponseTransferMode} ${uri.includes('/response-streaming-invocations')}`;
    });
    const rows = [...nodesOf(resourceTree(routes))].flatMap(({path, rows}) =>
      [...rows].map(([method, row]) => {
        const {streams} = functions[row.function as FunctionName] as FunctionRow;
        return `${method === '*' ? 'ANY' : method} ${path} ${row.function} ${streams ? 'STREAM' : 'BUFFERED'} ${streams}`;
      }),
    );
    expect(mounted.sort()).toEqual(rows.sort());
  });

  test('streams where a row may be long', () => {
    for (const row of routes) if ('streams' in row) expect(functions[row.function].streams, row.path).toBe(true);
  });

  test('waits as long as the platform lets it', () => {
    for (const [, {Properties}] of ofType('AWS::ApiGateway::Method')) {
      const {ResponseTransferMode, TimeoutInMillis} = Properties['Integration'];
      expect(TimeoutInMillis).toBe(ResponseTransferMode === 'STREAM' ? 900_000 : 29_000);
    }
  });

  test('leaves authentication to the functions, bodies as they are, and is regional', () => {
    for (const [, {Properties}] of ofType('AWS::ApiGateway::Method')) expect(Properties['AuthorizationType']).toBe('NONE');
    template.hasResourceProperties('AWS::ApiGateway::RestApi', {BinaryMediaTypes: ['*/*'], EndpointConfiguration: {Types: ['REGIONAL']}});
  });

  test('may call each function, with one permission', () => {
    const named = new Set(routes.map((row) => functionId(row.function)));
    const permitted = ofType('AWS::Lambda::Permission')
      .filter(([, {Properties}]) => JSON.stringify(Properties['SourceArn']).includes('RestApi'))
      .map(([, {Properties}]) => Properties['FunctionName']['Fn::GetAtt'][0]);
    expect(permitted.sort()).toEqual([...named].sort());
  });

  test('speaks for itself in Statuses', () => {
    const said = ofType('AWS::ApiGateway::GatewayResponse');
    for (const [, {Properties}] of said) {
      const text = Properties['ResponseTemplates']['application/json'].replace('$context.error.messageString', '"words"');
      const status = JSON.parse(text);
      expect(status).toMatchObject({kind: 'Status', apiVersion: 'v1', status: 'Failure'});
      if (Properties['StatusCode']) expect(status.code).toBe(Number(Properties['StatusCode']));
    }
    expect(said.map(([, {Properties}]) => Properties['ResponseType'])).toEqual(
      expect.arrayContaining([
        'THROTTLED',
        'REQUEST_TOO_LARGE',
        'INTEGRATION_TIMEOUT',
        'MISSING_AUTHENTICATION_TOKEN',
        'DEFAULT_4XX',
        'DEFAULT_5XX',
      ]),
    );
  });

  test('asks who was refused for its rate to come again, and nobody else', () => {
    for (const [, {Properties}] of ofType('AWS::ApiGateway::GatewayResponse')) {
      const retries = Properties['ResponseParameters']?.['gatewayresponse.header.Retry-After'];
      expect(retries !== undefined).toBe(['THROTTLED', 'QUOTA_EXCEEDED'].includes(Properties['ResponseType']));
    }
  });

  test('is throttled, and tells in its log how answers went', () => {
    template.hasResourceProperties('AWS::ApiGateway::Stage', {
      AccessLogSetting: {Format: Match.stringLikeRegexp('responseTransferMode')},
      MethodSettings: [
        Match.objectLike({
          HttpMethod: '*',
          ResourcePath: '/*',
          ThrottlingRateLimit: 500,
          ThrottlingBurstLimit: 1_000,
          DataTraceEnabled: false,
        }),
      ],
    });
  });
});

describe('tables', () => {
  const replica = {PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}, DeletionProtectionEnabled: true};

  test('are on demand, can be restored, and stay when the stack goes', () => {
    for (const [, {Properties, DeletionPolicy}] of ofType('AWS::DynamoDB::GlobalTable')) {
      expect(Properties['BillingMode']).toBe('PAY_PER_REQUEST');
      expect(Properties['Replicas']).toEqual([expect.objectContaining(replica)]);
      expect(DeletionPolicy).toBe('Retain');
    }
    template.resourceCountIs('AWS::DynamoDB::GlobalTable', 3);
  });

  test('the log streams new images and expires; nothing of objects does', () => {
    const table = (name: string) =>
      ofType('AWS::DynamoDB::GlobalTable').find(([, {Properties}]) => Properties['TableName'] === name)![1].Properties;
    expect(table('clusterless-default-log')).toMatchObject({
      StreamSpecification: {StreamViewType: 'NEW_IMAGE'},
      TimeToLiveSpecification: {AttributeName: 'ttl', Enabled: true},
      AttributeDefinitions: [
        {AttributeName: 'pk', AttributeType: 'S'},
        {AttributeName: 'sk', AttributeType: 'N'},
      ],
    });
    expect(table('clusterless-default-objects')).not.toHaveProperty('TimeToLiveSpecification');
    expect(table('clusterless-default-objects')).not.toHaveProperty('StreamSpecification');
    expect(table('clusterless-default-connections')).toMatchObject({TimeToLiveSpecification: {AttributeName: 'ttl', Enabled: true}});
  });

  test('go with the stack when told so, and bear another prefix', () => {
    const other = synthesize({cluster: 'try', removalPolicy: 'destroy', tablePrefix: 'p-'});
    const tables = other.ofType('AWS::DynamoDB::GlobalTable');
    expect(tables.map(([, {Properties}]) => Properties['TableName']).sort()).toEqual(['p-connections', 'p-log', 'p-objects']);
    for (const [, {Properties, DeletionPolicy}] of tables) {
      expect(DeletionPolicy).toBe('Delete');
      expect(Properties['Replicas'][0].DeletionProtectionEnabled).toBe(false);
    }
  });
});

describe('what runs without a request', () => {
  test('the log rings for inserts only, splits what fails, gives up in the queue', () => {
    const rung = (Object.entries(functions) as [FunctionName, FunctionRow][]).filter(([, row]) => row.trigger === 'log');
    template.resourceCountIs('AWS::Lambda::EventSourceMapping', rung.length);
    for (const [name] of rung)
      template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
        FunctionName: {Ref: functionId(name)},
        FilterCriteria: {Filters: [{Pattern: '{"eventName":["INSERT"]}'}]},
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 10,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        StartingPosition: 'TRIM_HORIZON',
        DestinationConfig: {OnFailure: {Destination: Match.anyValue()}},
      });
  });

  test('the queue is encrypted, and only over TLS', () => {
    template.hasResourceProperties('AWS::SQS::Queue', {SqsManagedSseEnabled: true});
    template.hasResourceProperties('AWS::SQS::QueuePolicy', {
      PolicyDocument: {Statement: [Match.objectLike({Effect: 'Deny', Condition: {Bool: {'aws:SecureTransport': 'false'}}})]},
    });
  });

  test('maintenance runs by the clock', () => {
    template.hasResourceProperties('AWS::Events::Rule', {ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED'});
  });

  test('an idle cluster pays for few alarms', () => {
    const metrics = ofType('AWS::CloudWatch::Alarm').flatMap(([, {Properties}]) =>
      Properties['Metrics'] ? Properties['Metrics'].filter((each: {MetricStat?: unknown}) => each.MetricStat) : [Properties['MetricName']],
    );
    expect(metrics.length).toBeLessThanOrEqual(7);
  });
});

describe('settings reach the template', () => {
  const told = synthesize({
    cluster: 'west',
    watchConcurrency: '50',
    logRetentionDays: '7',
    admins: 'arn:aws:iam::123456789012:role/path/Admin',
    domain: 'k.example.com',
    certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/a',
    clientCertificateDomain: 'm.example.com',
    clientCertificateCertificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/b',
    truststore: 's3://trust/ca.pem',
    alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms',
  });

  test('watches have a concurrency of their own', () => {
    const bounded = told.ofType('AWS::Lambda::Function').filter(([, {Properties}]) => Properties['ReservedConcurrentExecutions'] === 50);
    expect(bounded.map(([, {Properties}]) => Properties['Description'])).toEqual(['clusterless list', 'clusterless connect']);
  });

  test('logs are kept as long as said', () => {
    for (const [, {Properties}] of told.ofType('AWS::Logs::LogGroup')) expect(Properties['RetentionInDays']).toBe(7);
  });

  test('who is who is read by the functions, with the name of the cluster', () => {
    told.template.hasResourceProperties('AWS::SSM::Parameter', {
      Name: '/clusterless/west/identities',
      Value: '{"cluster":"west","identities":[{"arn":"arn:aws:iam::123456789012:role/Admin","groups":["system:masters"]}]}',
    });
  });

  test('own host names: one for tokens, one that asks for a certificate; the common one is off', () => {
    told.template.hasResourceProperties('AWS::ApiGateway::RestApi', {DisableExecuteApiEndpoint: true});
    told.template.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: 'k.example.com',
      SecurityPolicy: 'TLS_1_2',
      MutualTlsAuthentication: Match.absent(),
    });
    told.template.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: 'm.example.com',
      MutualTlsAuthentication: {TruststoreUri: 's3://trust/ca.pem'},
    });
    told.template.hasOutput('Endpoint', {Value: 'https://k.example.com'});
  });

  test('alarms are heard', () => {
    for (const [, {Properties}] of told.ofType('AWS::CloudWatch::Alarm')) expect(Properties['AlarmActions']).toHaveLength(1);
  });
});

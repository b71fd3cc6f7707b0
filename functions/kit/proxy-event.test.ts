/** Events as AWS documents them, and as emulators send them. Each names where its shape is from. */
import {describe, expect, test} from 'vitest';
import {requestOf} from './proxy-event.ts';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-input-format */
const documented = {
  resource: '/my/path',
  path: '/my/path',
  httpMethod: 'GET',
  headers: {header1: 'value1', header2: 'value2'},
  multiValueHeaders: {header1: ['value1'], header2: ['value1', 'value2']},
  queryStringParameters: {parameter1: 'value1', parameter2: 'value'},
  multiValueQueryStringParameters: {parameter1: ['value1', 'value2'], parameter2: ['value']},
  requestContext: {
    accountId: '123456789012',
    apiId: 'id',
    authorizer: {claims: null, scopes: null},
    domainName: 'id.execute-api.us-east-1.amazonaws.com',
    domainPrefix: 'id',
    extendedRequestId: 'request-id',
    httpMethod: 'GET',
    identity: {sourceIp: '203.0.113.7', userAgent: 'user-agent', userArn: null},
    path: '/my/path',
    protocol: 'HTTP/1.1',
    requestId: 'id=',
    requestTime: '04/Mar/2020:19:15:17 +0000',
    requestTimeEpoch: 1583349317135,
    resourceId: null,
    resourcePath: '/my/path',
    stage: '$default',
  },
  pathParameters: null,
  stageVariables: null,
  body: null,
  isBase64Encoded: false,
};

const event = (fields: object) => ({...documented, ...fields});

describe('a proxy event', () => {
  test('is a request, with all values of what was repeated', () => {
    expect(requestOf(documented)).toEqual({
      method: 'GET',
      path: '/my/path',
      query: [
        ['parameter1', 'value1'],
        ['parameter1', 'value2'],
        ['parameter2', 'value'],
      ],
      headers: {header1: 'value1', header2: 'value1, value2'},
      peer: {address: '203.0.113.7'},
    });
  });

  test('has its headers as they were sent, in any case', () => {
    const {headers} = requestOf(event({multiValueHeaders: {Accept: ['application/json'], ACCEPT: ['*/*'], 'X-Remote-User': ['a']}}));
    expect({...headers}).toEqual({accept: 'application/json, */*', 'x-remote-user': 'a'});
  });

  test('may lack the lists, as a test event of the console may', () => {
    const request = requestOf(event({multiValueHeaders: undefined, multiValueQueryStringParameters: null}));
    expect({...request.headers}).toEqual({header1: 'value1', header2: 'value2'});
    expect(request.query).toEqual([
      ['parameter1', 'value1'],
      ['parameter2', 'value'],
    ]);
  });

  test('may have no headers and no query at all', () => {
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-test-method.html: a test invocation sends null.
    const nothing = {headers: null, multiValueHeaders: null, queryStringParameters: null, multiValueQueryStringParameters: null};
    const request = requestOf(event(nothing));
    expect(request.query).toEqual([]);
    expect(Object.keys(request.headers)).toEqual([]);
  });

  test('has a body as text, or in base64 where the media type is binary', () => {
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/lambda-proxy-binary-media.html
    const bytes = new Uint8Array([0x6b, 0x38, 0x73, 0, 0xff]);
    const binary = {httpMethod: 'POST', body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true};
    expect([...requestOf(event(binary)).body!]).toEqual([...bytes]);
    expect(Buffer.from(requestOf(event({httpMethod: 'POST', body: '{"ä":1}'})).body!).toString()).toBe('{"ä":1}');
  });

  test('of a GET has no body, whatever was sent', () => {
    expect(requestOf(event({body: '{}'})).body).toBeUndefined();
  });
});

describe('the path', () => {
  const pathOf = (path: string, basePath?: string): string => requestOf(event({path}), {basePath}).path;

  test('stays encoded, as a REST API passes it on', () => {
    expect(pathOf('/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode')).toBe(
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
    );
    expect(pathOf('/api/v1/namespaces/a%2Fb')).toBe('/api/v1/namespaces/a%2Fb');
    expect(pathOf('/apis/x/y/system:node')).toBe('/apis/x/y/system:node');
  });

  test('that arrives decoded, as emulators have it, is encoded again', () => {
    expect(pathOf('/api/v1/namespaces/a b')).toBe('/api/v1/namespaces/a%20b');
    expect(pathOf('/api/v1/namespaces/ä')).toBe('/api/v1/namespaces/%C3%A4');
    expect(pathOf('/api/v1/namespaces/50%')).toBe('/api/v1/namespaces/50%25');
    expect(pathOf('/api/v1/namespaces/a?b')).toBe('/api/v1/namespaces/a%3Fb');
  });

  test('loses the mapping of a custom domain and nothing else', () => {
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/rest-api-mappings.html
    expect(pathOf('/k8s/api/v1', '/k8s')).toBe('/api/v1');
    expect(pathOf('/k8s', '/k8s')).toBe('/');
    expect(pathOf('/k8store/api', '/k8s')).toBe('/k8store/api');
    expect(pathOf('/api/k8s', '/k8s')).toBe('/api/k8s');
  });
});

describe('a client certificate', () => {
  const withCertificate = (clientCertPem: unknown) =>
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/rest-api-mutual-tls.html
    requestOf(event({requestContext: {identity: {sourceIp: '203.0.113.7', clientCert: {clientCertPem, subjectDN: 'CN=x'}}}})).peer;

  test('that the gateway verified is who asks', async () => {
    const {loadOrCreatePki} = await import('../../localstack/certificates.ts');
    const {admin} = await loadOrCreatePki({names: ['localhost']});
    expect(withCertificate(admin.certificate)?.certificate).toMatchObject({
      subject: {commonName: 'clusterless-admin', organizations: ['system:masters']},
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test('that is none is nobody, and not anonymous', () => {
    expect(withCertificate('rubbish')).toEqual({address: '203.0.113.7', certificateError: expect.any(String)});
  });
});

describe('what is no proxy event', () => {
  const refused: [string, unknown, string][] = [
    ['nothing', undefined, 'it is undefined'],
    ['null', null, 'it is null'],
    ['a list', [], 'it is a list'],
    ['text', 'GET /api', 'it is a string'],
    ['an empty object', {}, 'it has no httpMethod'],
    ['an event without a path', event({path: undefined}), 'it has no path'],
    ['a path that is none', event({path: 'api/v1'}), 'its path does not begin with a slash'],
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
    ['an event of an HTTP API', {version: '2.0', rawPath: '/api', requestContext: {http: {method: 'GET'}}}, 'payload format 2.0'],
    // https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
    ['a batch of a stream', {Records: [{eventSource: 'aws:dynamodb'}]}, 'it is a batch of records'],
    ['a header that is a number', event({multiValueHeaders: {a: [1]}}), '"a" in its multiValueHeaders has a value that is no string'],
    ['a header that is no list', event({multiValueHeaders: {a: 'b'}}), '"a" in its multiValueHeaders'],
    ['a query that is an object', event({multiValueQueryStringParameters: {a: [{}]}}), '"a" in its multiValueQueryStringParameters'],
    ['a body that is an object', event({httpMethod: 'POST', body: {}}), 'its body is no string'],
    ['a body that is not base64', event({httpMethod: 'POST', body: '{"a": 1}', isBase64Encoded: true}), 'its body is not base64'],
  ];

  test.each(refused)('%s is refused with what is wrong', (_name, raw, why) => {
    expect(() => requestOf(raw)).toThrow(why);
  });

  test('a header by the name of what every object has is a header', () => {
    expect({...requestOf(event({multiValueHeaders: {constructor: ['x']}})).headers}).toEqual({constructor: 'x'});
    expect(requestOf(documented).headers['constructor']).toBeUndefined();
  });
});

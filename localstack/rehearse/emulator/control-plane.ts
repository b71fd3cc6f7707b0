/** Asks the emulator what a deployment left there: functions, REST API, WebSocket API, as AWS's own control planes name them. */
import type {GatewayResponse, Integration, RestApi, WebSocketApi} from '../api/deployed.ts';
import type {FunctionConfig} from '../lambda/function-config.ts';

export const region = 'us-east-1';
export const accountId = '000000000000';

export interface DeployedFunction extends FunctionConfig {
  logicalId: string;
  codeUrl: string;
}

interface FunctionAnswer {
  Configuration: {
    FunctionName: string;
    FunctionArn: string;
    Handler: string;
    MemorySize: number;
    Timeout: number;
    CodeSha256: string;
    Environment?: {Variables?: Record<string, string>};
    LoggingConfig?: {LogFormat?: string};
  };
  Code: {Location: string};
  Concurrency?: {ReservedConcurrentExecutions?: number};
  Tags?: Record<string, string>;
}

interface IntegrationAnswer {
  type?: string;
  uri?: string;
  timeoutInMillis?: number;
}

interface ResourceAnswer {
  id: string;
  path: string;
  resourceMethods?: Record<string, {methodIntegration?: IntegrationAnswer}>;
}

interface ResponseAnswer {
  responseType: string;
  statusCode?: string;
  responseTemplates?: Record<string, string>;
  responseParameters?: Record<string, string>;
}

export class ControlPlane {
  readonly #url: string;

  constructor(emulatorUrl: string) {
    this.#url = emulatorUrl;
  }

  async function(name: string): Promise<DeployedFunction> {
    const answer = await this.#get<FunctionAnswer>('lambda', `/2015-03-31/functions/${encodeURIComponent(name)}`);
    const {Configuration: config, Code, Concurrency, Tags} = answer;
    const logFormat = config.LoggingConfig?.LogFormat;
    const variables = {...config.Environment?.Variables, ...(logFormat === 'JSON' && {AWS_LAMBDA_LOG_FORMAT: logFormat})};
    return {
      name: config.FunctionName,
      logicalId: Tags?.['aws:cloudformation:logical-id'] ?? '',
      arn: config.FunctionArn,
      handler: config.Handler,
      memoryMb: config.MemorySize,
      timeoutMs: config.Timeout * 1000,
      variables,
      revision: JSON.stringify([config.CodeSha256, config.Handler, config.MemorySize, config.Timeout, variables]),
      reservedConcurrency: Concurrency?.ReservedConcurrentExecutions,
      codeUrl: Code.Location,
    };
  }

  async functionNames(): Promise<string[]> {
    const {Functions} = await this.#get<{Functions: {FunctionName: string}[]}>('lambda', '/2015-03-31/functions/');
    return Functions.map(({FunctionName}) => FunctionName);
  }

  /** Undefined where none was deployed. */
  async restApi(): Promise<RestApi | undefined> {
    const {item: apis} = await this.#get<{item: {id: string; binaryMediaTypes?: string[]}[]}>('apigateway', '/restapis');
    const found = apis[0];
    if (!found) return undefined;
    const under = `/restapis/${found.id}`;
    const [resources, stages, responses] = await Promise.all([
      this.#get<{item: ResourceAnswer[]}>('apigateway', `${under}/resources?embed=methods&limit=500`),
      this.#get<{item: {stageName: string}[]}>('apigateway', `${under}/stages`),
      this.#get<{item: ResponseAnswer[]}>('apigateway', `${under}/gatewayresponses`),
    ]);
    return {
      id: found.id,
      region,
      accountId,
      stage: stages.item[0]?.stageName ?? 'prod',
      binaryMediaTypes: found.binaryMediaTypes ?? [],
      resources: resources.item.map(({id, path, resourceMethods}) => ({
        id,
        path,
        methods: Object.fromEntries(
          Object.entries(resourceMethods ?? {}).map(([method, {methodIntegration}]) => [method, integrationOf(methodIntegration ?? {})]),
        ),
      })),
      responses: Object.fromEntries(responses.item.map((response) => [response.responseType, responseOf(response)])),
    };
  }

  async webSocketApi(): Promise<WebSocketApi | undefined> {
    const {items: apis} = await this.#get<{items: {apiId: string; protocolType: string}[]}>('apigateway', '/v2/apis');
    const found = apis.find(({protocolType}) => protocolType === 'WEBSOCKET');
    if (!found) return undefined;
    const under = `/v2/apis/${found.apiId}`;
    const [routes, integrations, stages] = await Promise.all([
      this.#get<{items: {routeKey: string; target: string}[]}>('apigateway', `${under}/routes`),
      this.#get<{items: {integrationId: string; integrationUri: string}[]}>('apigateway', `${under}/integrations`),
      this.#get<{items: {stageName: string}[]}>('apigateway', `${under}/stages`),
    ]);
    const functionOf = (target: string): string => {
      const integration = integrations.items.find(({integrationId}) => target === `integrations/${integrationId}`);
      return functionIn(integration?.integrationUri) ?? '';
    };
    return {
      id: found.apiId,
      region,
      stage: stages.items[0]?.stageName ?? '$default',
      routes: Object.fromEntries(routes.items.map(({routeKey, target}) => [routeKey, functionOf(target)])),
    };
  }

  async #get<Answer>(service: string, path: string): Promise<Answer> {
    // The emulator reads the service from the signature's scope, and does not verify it.
    const authorization = `AWS4-HMAC-SHA256 Credential=rehearsal/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=0`;
    const answer = await fetch(`${this.#url}${path}`, {headers: {authorization}});
    if (!answer.ok) throw new Error(`${service} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  }
}

function integrationOf({type, uri, timeoutInMillis}: IntegrationAnswer): Integration {
  return {
    functionName: type === 'AWS_PROXY' ? functionIn(uri) : undefined,
    streams: uri?.endsWith('/response-streaming-invocations') ?? false,
    timeoutMs: timeoutInMillis ?? 29_000,
  };
}

const functionIn = (uri: string | undefined): string | undefined => /:function:([^:/]+)/.exec(uri ?? '')?.[1];

function responseOf({statusCode, responseTemplates, responseParameters}: ResponseAnswer): GatewayResponse {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(responseParameters ?? {})) {
    const literal = /^'(.*)'$/.exec(value)?.[1];
    if (name.startsWith('gatewayresponse.header.') && literal !== undefined)
      headers[name.slice('gatewayresponse.header.'.length)] = literal;
  }
  return {status: statusCode ? Number(statusCode) : undefined, templates: responseTemplates ?? {}, headers};
}

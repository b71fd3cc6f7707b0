/** What was deployed, as far as serving it goes: read once after a deployment (emulator/control-plane.ts), plain data from then on. */

export interface Integration {
  /** Of the Lambda function; undefined for an integration that is no Lambda proxy. */
  functionName: string | undefined;
  streams: boolean;
  timeoutMs: number;
}

export interface Resource {
  id: string;
  /** As in the template: /api/v1/{name}/{proxy+} */
  path: string;
  methods: Record<string, Integration>;
}

export interface GatewayResponse {
  status: number | undefined;
  /** By media type. */
  templates: Record<string, string>;
  headers: Record<string, string>;
}

export interface RestApi {
  id: string;
  stage: string;
  region: string;
  accountId: string;
  binaryMediaTypes: readonly string[];
  resources: readonly Resource[];
  /** By response type: DEFAULT_4XX, MISSING_AUTHENTICATION_TOKEN ... */
  responses: Record<string, GatewayResponse>;
}

export interface WebSocketApi {
  id: string;
  stage: string;
  region: string;
  /** Function by route key: $connect, $default, ... */
  routes: Record<string, string>;
}

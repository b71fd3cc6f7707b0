/** What API Gateway says by itself, said as a Status: a client must not meet another language when no function was asked. */
import {GatewayResponse, ResponseType, type RestApi} from 'aws-cdk-lib/aws-apigateway';

interface Own {
  type: ResponseType;
  code: number;
  reason: string;
  /** Absent: the gateway's own words. */
  message?: string;
  retryAfterSeconds?: number;
}

const all: readonly Own[] = [
  {type: ResponseType.BAD_REQUEST_BODY, code: 400, reason: 'BadRequest'},
  {type: ResponseType.BAD_REQUEST_PARAMETERS, code: 400, reason: 'BadRequest'},
  {type: ResponseType.ACCESS_DENIED, code: 403, reason: 'Forbidden'},
  {type: ResponseType.WAF_FILTERED, code: 403, reason: 'Forbidden'},
  // That is how it calls a path or method that nothing is mounted at.
  {
    type: ResponseType.MISSING_AUTHENTICATION_TOKEN,
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
  },
  {type: ResponseType.RESOURCE_NOT_FOUND, code: 404, reason: 'NotFound', message: 'the server could not find the requested resource'},
  {type: ResponseType.REQUEST_TOO_LARGE, code: 413, reason: 'RequestEntityTooLarge'},
  {type: ResponseType.UNSUPPORTED_MEDIA_TYPE, code: 415, reason: 'UnsupportedMediaType'},
  // Nothing was done yet, so a client may simply come again. The others say no such thing: a write may have happened.
  {type: ResponseType.THROTTLED, code: 429, reason: 'TooManyRequests', retryAfterSeconds: 1},
  {type: ResponseType.QUOTA_EXCEEDED, code: 429, reason: 'TooManyRequests', retryAfterSeconds: 1},
  {type: ResponseType.INTEGRATION_FAILURE, code: 504, reason: 'Timeout', message: 'the function that serves this did not answer'},
  {type: ResponseType.INTEGRATION_TIMEOUT, code: 504, reason: 'Timeout', message: 'the function that serves this did not answer in time'},
  {type: ResponseType.DEFAULT_4XX, code: 400, reason: 'BadRequest'},
  {type: ResponseType.DEFAULT_5XX, code: 500, reason: 'InternalError'},
];

export function addGatewayResponses(restApi: RestApi): void {
  for (const own of all) {
    const {type, code, retryAfterSeconds} = own;
    const isDefault = type === ResponseType.DEFAULT_4XX || type === ResponseType.DEFAULT_5XX;
    new GatewayResponse(restApi, `Says ${type.responseType}`, {
      restApi,
      type,
      // The defaults keep the code that the gateway has for what happened.
      ...(!isDefault && {statusCode: String(code)}),
      ...(retryAfterSeconds !== undefined && {responseHeaders: {'Retry-After': `'${retryAfterSeconds}'`}}),
      templates: {'application/json': template(own)},
    });
  }
}

/** `$context.error.messageString` is a JSON string already. */
function template({code, reason, message, retryAfterSeconds}: Own): string {
  const details = retryAfterSeconds === undefined ? '' : `,"details":{"retryAfterSeconds":${retryAfterSeconds}}`;
  const words = message === undefined ? '$context.error.messageString' : JSON.stringify(message);
  return `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":${words},"reason":"${reason}"${details},"code":${code}}`;
}

/** The platform's documented limits that the rehearsal enforces. Each is AWS's, none is ours. */

/** Of a REST API's request. @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
export const requestBodyLimit = 10 * 1024 * 1024;
/** Names and values together. */
export const requestHeadersLimit = 10_240;
/** Of an event, and of a buffered answer. @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
export const invocationPayloadLimit = 6 * 1024 * 1024;
export const bufferedTimeoutMs = 29_000;
export const streamTimeoutMs = 900_000;
/** Of a regional API's stream. @see https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html */
export const streamIdleMs = 300_000;

/** @see https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html */
export const frameLimit = 32 * 1024;
export const messageLimit = 128 * 1024;
export const connectionIdleMs = 10 * 60_000;
export const connectionAgeMs = 2 * 60 * 60_000;

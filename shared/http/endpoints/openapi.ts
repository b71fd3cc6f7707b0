/** /openapi/v2 and /openapi/v3. */
import type {Machine} from '../../registry/context.ts';
import {answerOpenApi} from '../openapi/answer.ts';
import {OpenApi} from '../openapi/openapi.ts';
import {type Endpoints, requireGet} from './endpoint.ts';

export function openApiEndpoints({catalogue, clock}: Machine): Endpoints {
  const openapi = new OpenApi(catalogue);
  return {
    openapi(request, rest) {
      requireGet(request);
      return answerOpenApi(openapi, request, rest, clock.now());
    },
  };
}

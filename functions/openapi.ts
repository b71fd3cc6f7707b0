import {openApiEndpoints} from '../shared/http/endpoints/openapi.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('openapi', () => ({endpoints: ({machine}) => openApiEndpoints(machine)}));

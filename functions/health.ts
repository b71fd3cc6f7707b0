import {healthEndpoints} from '../shared/http/endpoints/health.ts';
import {healthOf} from './kit/health.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('health', () => ({endpoints: ({machine}) => healthEndpoints(healthOf(machine))}));

import {metricsEndpoints} from '../shared/http/endpoints/metrics.ts';
import {healthOf} from './kit/health.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('metrics', () => ({endpoints: ({machine}) => metricsEndpoints(machine, healthOf(machine))}));

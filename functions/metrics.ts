/** Requests are counted by CloudWatch, for all environments: what one of them has counted would say nothing. See kit/metrics.ts. */
import {metricsEndpoints} from '../shared/http/endpoints/metrics.ts';
import {renderObjects} from '../shared/http/metrics.ts';
import {healthOf} from './kit/health.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('metrics', () => ({
  endpoints: ({machine}) => metricsEndpoints(machine, healthOf(machine), renderObjects),
}));

/** /healthz, /livez and /readyz. */
import {Health, type HealthState} from '../health.ts';
import type {Endpoint, Endpoints} from './endpoint.ts';

/** `state` is asked at each request: where no process lives long, it has to look. */
export function healthEndpoints(state: () => HealthState | Promise<HealthState>): Endpoints {
  const of =
    (endpoint: 'healthz' | 'livez' | 'readyz'): Endpoint =>
    async (request, rest) => {
      const now = await state();
      return new Health(() => now).answer(endpoint, rest.join('/'), request.query);
    };
  return {healthz: of('healthz'), livez: of('livez'), readyz: of('readyz')};
}

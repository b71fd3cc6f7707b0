/** The whole API: every handler, every endpoint, and the controllers beside them. What a request goes through is compose.ts. */
import type {Api, ApiOptions} from './api.ts';
import {compose} from './compose.ts';
import {Controllers} from './controllers/controllers.ts';
import {discoveryEndpoints} from './http/endpoints/discovery.ts';
import {healthEndpoints} from './http/endpoints/health.ts';
import {metricsEndpoints} from './http/endpoints/metrics.ts';
import {openApiEndpoints} from './http/endpoints/openapi.ts';
import type {HealthState} from './http/health.ts';
import {handlers} from './registry/handlers.ts';
import {Reviews} from './registry/reviews/reviews.ts';
import {writing} from './registry/served/writing.ts';

export type {Api, ApiOptions} from './api.ts';

export function createApi(options: ApiOptions): Api {
  const state = (): HealthState => controllers.state();
  const {assembly, handle, authenticate, client, close} = compose(options, {
    handlers,
    ...writing,
    reviews: (services) => new Reviews(services),
    endpoints: (made) => ({
      ...discoveryEndpoints(made, options),
      ...openApiEndpoints(made.machine),
      ...healthEndpoints(state),
      ...metricsEndpoints(made.machine, state, (objects, seats) => made.machine.metrics.render(objects, seats)),
    }),
  });
  const controllers: Controllers = new Controllers({...assembly, client, options});
  return {
    handle,
    authenticate,
    client,
    store: assembly.machine.store,
    start: () => controllers.start(),
    drain: () => controllers.drain(),
    async close() {
      controllers.drain();
      assembly.endWatches();
      await controllers.stop();
      await close();
      assembly.log.debug({}, 'api closed');
    },
  };
}

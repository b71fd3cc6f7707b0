/** /metrics and /metrics/slis. */
import type {Machine} from '../../registry/context.ts';
import {Health, type HealthState} from '../health.ts';
import type {ApiResponse} from '../messages.ts';
import {type Endpoints, noCache} from './endpoint.ts';

export function metricsEndpoints({metrics, store, catalogue}: Machine, state: () => HealthState | Promise<HealthState>): Endpoints {
  return {
    async metrics(_request, [second, ...more]) {
      if (second === 'slis' && more.length === 0) {
        const now = await state();
        return prometheus(new Health(() => now).slis());
      }
      if (second !== undefined) return undefined;
      const counts = [...(await store.counts())].filter(([type]) => catalogue.byType(type) !== undefined);
      return prometheus(metrics.render(new Map(counts)));
    },
  };
}

const prometheus = (text: string): ApiResponse => ({
  status: 200,
  headers: {...noCache, 'content-type': 'text/plain; version=0.0.4; charset=utf-8'},
  body: Buffer.from(text),
});

/** /metrics and /metrics/slis. */
import type {KubeObject} from '../../object.ts';
import type {Machine} from '../../registry/context.ts';
import {Health, type HealthState} from '../health.ts';
import type {ApiResponse} from '../messages.ts';
import {type Endpoints, noCache} from './endpoint.ts';

/** Of how many objects there are, by type, and seats, by priority level. */
type Render = (objects: ReadonlyMap<string, number>, seats: ReadonlyMap<string, number>) => string;

/** `render`: what is told beside them is of one process, where there is one. */
export function metricsEndpoints(
  {store, catalogue, caches}: Machine,
  state: () => HealthState | Promise<HealthState>,
  render: Render,
): Endpoints {
  return {
    async metrics(_request, [second, ...more]) {
      if (second === 'slis' && more.length === 0) {
        const now = await state();
        return prometheus(new Health(() => now).slis());
      }
      if (second !== undefined) return undefined;
      const counts = [...(await store.counts())].filter(([type]) => catalogue.byType(type) !== undefined);
      const levels = await caches.of('prioritylevelconfigurations.flowcontrol.apiserver.k8s.io');
      return prometheus(render(new Map(counts), nominalSeats([...levels.values()])));
    },
  };
}

/** What the reference may serve at once when nobody says otherwise: the levels' shares are shares of this. */
const serverSeats = 600;

/** Seats of each priority level, as the reference deals them out. Nobody queues for them here. */
function nominalSeats(levels: readonly KubeObject[]): ReadonlyMap<string, number> {
  const sharesOf = ({spec}: KubeObject): number => (spec?.limited ?? spec?.exempt)?.nominalConcurrencyShares ?? 0;
  const all = levels.reduce((sum, level) => sum + sharesOf(level), 0);
  return new Map(levels.map((level) => [level.metadata.name!, all > 0 ? Math.ceil((serverSeats * sharesOf(level)) / all) : 0]));
}

const prometheus = (text: string): ApiResponse => ({
  status: 200,
  headers: {...noCache, 'content-type': 'text/plain; version=0.0.4; charset=utf-8'},
  body: Buffer.from(text),
});

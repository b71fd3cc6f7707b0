/**
 * What the server counts about itself, under the upstream names, as Prometheus text. Counting is a Map look-up: it is on the path of
 * every request. (A metrics library costs 13 MiB and 60 ms at start; this is what of it we need.)
 */
import type {Resource} from '../registry/resource.ts';
import type {ApiRequest} from './messages.ts';
import {queryValue, type RequestInfo} from './request-info.ts';

type Labels = Record<string, string>;

interface Sample {
  labels: string;
  value: number;
}

const durationBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

class Distribution {
  readonly counts = new Array<number>(durationBuckets.length).fill(0);
  count = 0;
  sum = 0;

  observe(seconds: number): void {
    this.count++;
    this.sum += seconds;
    const bucket = durationBuckets.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) this.counts[bucket]!++;
  }
}

/** Beyond this many label sets of one metric new ones are dropped: names that strangers send must not fill memory. */
const maxSeries = 10_000;

function bump(map: Map<string, number>, labels: string, by = 1): void {
  const value = map.get(labels);
  if (value !== undefined) map.set(labels, value + by);
  else if (map.size < maxSeries) map.set(labels, by);
}

const escapeLabel = (value: string): string => value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
const format = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');

export interface WatchCount {
  closed(): void;
  replayed(): void;
}

export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, Distribution>();
  readonly #watchers = new Map<string, number>();
  readonly #watchEvents = new Map<string, number>();
  readonly #replays = new Map<string, number>();
  readonly #deprecated = new Map<string, number>();
  readonly #startedSeconds = Date.now() / 1000;
  #inflightReading = 0;
  #inflightMutating = 0;
  #watchLagSeconds = 0;

  /**
   * Call when a request begins; the returned function when its answer is known. `resource`: what is served under the path, if anything;
   * the labels come from it, since the path is whatever strangers send.
   */
  requestStarted(info: RequestInfo, query: ApiRequest['query'], resource: Resource | undefined): (code: number) => void {
    const mutating = !['get', 'list', 'watch'].includes(info.verb);
    const startedMs = performance.now();
    if (mutating) this.#inflightMutating++;
    else this.#inflightReading++;
    return (code) => {
      if (mutating) this.#inflightMutating--;
      else this.#inflightReading--;
      const about = `${aboutOf(info, resource)},verb="${verbOf(info)}",version="${resource?.version ?? ''}"`;
      bump(this.#requests, `code="${code}",component="apiserver",dry_run="${dryRunOf(query)}",${about}`);
      if (info.verb === 'watch') return;
      let distribution = this.#durations.get(about);
      if (!distribution && this.#durations.size < maxSeries) {
        distribution = new Distribution();
        this.#durations.set(about, distribution);
      }
      distribution?.observe((performance.now() - startedMs) / 1000);
    };
  }

  watchStarted(resource: Resource): WatchCount {
    const labels = format({group: resource.group, resource: resource.resource, version: resource.version});
    bump(this.#watchers, labels);
    let open = true;
    return {
      closed: () => {
        if (open) bump(this.#watchers, labels, -1);
        open = false;
      },
      replayed: () => bump(this.#replays, labels),
    };
  }

  watchEvents(type: string, deliveries: number, lagSeconds: number): void {
    bump(this.#watchEvents, format({resource: type}), deliveries);
    this.#watchLagSeconds = lagSeconds;
  }

  requestedDeprecated(labels: {group: string; version: string; resource: string; subresource: string; removed_release: string}): void {
    this.#deprecated.set(format(labels), 1);
  }

  /** Prometheus text, version 0.0.4. `objects`: how many objects each storage type holds. `seats`: of each priority level. */
  render(objects: ReadonlyMap<string, number>, seats: ReadonlyMap<string, number> = new Map()): string {
    const lines: string[] = [];
    const series = (name: string, type: string, help: string, samples: Iterable<Sample>) => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const {labels, value} of samples) lines.push(`${name}${labels ? `{${labels}}` : ''} ${value}`);
    };
    const all = (map: Map<string, number>): Sample[] => [...map].map(([labels, value]) => ({labels, value}));
    series('apiserver_request_total', 'counter', 'Requests by verb, resource, scope and response code.', all(this.#requests));
    series(
      'apiserver_requested_deprecated_apis',
      'gauge',
      'Deprecated APIs that were requested, with the release that removes them.',
      all(this.#deprecated),
    );
    this.#renderDurations(lines);
    series('apiserver_current_inflight_requests', 'gauge', 'Requests under way.', [
      {labels: 'request_kind="mutating"', value: this.#inflightMutating},
      {labels: 'request_kind="readOnly"', value: this.#inflightReading},
    ]);
    series(
      'apiserver_longrunning_requests',
      'gauge',
      'Open watches.',
      [...this.#watchers].map(([labels, value]) => ({labels: `${labels},verb="WATCH"`, value})),
    );
    series('apiserver_watch_events_total', 'counter', 'Watch events handed to watchers.', all(this.#watchEvents));
    lines.push(...objectLines(objects));
    series(
      'apiserver_flowcontrol_nominal_limit_seats',
      'gauge',
      'Seats that the shares of a priority level stand for.',
      [...seats].map(([level, value]) => ({labels: format({priority_level: level}), value})),
    );
    series('clusterless_watch_replays_total', 'counter', 'Watchers that fell behind and went back to the log.', all(this.#replays));
    series('clusterless_watch_lag_seconds', 'gauge', 'From the commit of the newest delivered change to its delivery.', [
      {labels: '', value: this.#watchLagSeconds},
    ]);
    const memory = process.memoryUsage();
    series('process_resident_memory_bytes', 'gauge', 'Resident memory.', [{labels: '', value: memory.rss}]);
    const cpu = process.cpuUsage();
    series('process_cpu_seconds_total', 'counter', 'User and system CPU time.', [{labels: '', value: (cpu.user + cpu.system) / 1e6}]);
    series('process_start_time_seconds', 'gauge', 'When the process started.', [{labels: '', value: this.#startedSeconds}]);
    return `${lines.join('\n')}\n`;
  }

  #renderDurations(lines: string[]): void {
    const name = 'apiserver_request_duration_seconds';
    lines.push(`# HELP ${name} Time from request to answer.`, `# TYPE ${name} histogram`);
    for (const [labels, distribution] of this.#durations) {
      let cumulative = 0;
      for (const [at, bound] of durationBuckets.entries()) {
        cumulative += distribution.counts[at]!;
        lines.push(`${name}_bucket{${labels},le="${bound}"} ${cumulative}`);
      }
      lines.push(
        `${name}_bucket{${labels},le="+Inf"} ${distribution.count}`,
        `${name}_sum{${labels}} ${distribution.sum}`,
        `${name}_count{${labels}} ${distribution.count}`,
      );
    }
  }
}

/** All that can be said where requests are counted elsewhere: `objects` is how many objects each storage type holds. */
export const renderObjects = (objects: ReadonlyMap<string, number>): string => `${objectLines(objects).join('\n')}\n`;

function objectLines(objects: ReadonlyMap<string, number>): string[] {
  const name = 'apiserver_storage_objects';
  const samples = [...objects].map(([type, value]) => `${name}{${format({resource: type})}} ${value}`);
  return [`# HELP ${name} Stored objects by type.`, `# TYPE ${name} gauge`, ...samples];
}

function aboutOf(info: RequestInfo, resource: Resource | undefined): string {
  const {name, namespace, verb, subresource, isResourceRequest} = info;
  const scope = !isResourceRequest ? '' : name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster';
  const sub = resource ? (resource.subresources[subresource]?.name ?? '') : isResourceRequest ? '' : endpointOf(info.path);
  return `group="${resource?.group ?? ''}",resource="${resource?.resource ?? ''}",scope="${scope}",subresource="${sub}"`;
}

const endpoints: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  api: 'api',
  apis: 'apis',
  openapi: 'openapi',
  version: '/version',
  metrics: '/metrics',
  healthz: '/healthz',
  livez: '/livez',
  readyz: '/readyz',
});

const endpointOf = (path: string): string => endpoints[path.split('/', 2)[1] ?? ''] ?? '';

const reportedVerbs: Readonly<Record<string, string>> = {list: 'LIST', watch: 'WATCH', deletecollection: 'DELETECOLLECTION'};
const reportedMethods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const connections = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);

/** The reference reports what was sent, not what it was authorized as: a create is a POST. */
function verbOf({verb, method, subresource}: RequestInfo): string {
  if (connections.has(subresource)) return 'CONNECT';
  return (Object.hasOwn(reportedVerbs, verb) && reportedVerbs[verb]) || (reportedMethods.has(method) ? method : 'OTHER');
}

function dryRunOf(query: ApiRequest['query']): string {
  if (query.length === 0) return '';
  const value = queryValue(query, 'dryRun');
  return !value ? '' : value === 'All' ? 'All' : 'invalid';
}

/** /healthz, /livez, /readyz: named checks, their lines as the reference prints them. */
import type {ApiResponse} from './messages.ts';
import {queryValue} from './request-info.ts';

export interface HealthCheck {
  name: string;
  /** Undefined when well, else why not. */
  failing(): string | undefined;
}

/** Hooks of the reference that have a counterpart here; each is well once the server has started. */
const startHooks = [
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'priority-and-fairness-config-consumer',
  'priority-and-fairness-filter',
  'storage-object-count-tracker-hook',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-system-namespaces-controller',
  'peer-endpoint-reconciler-controller',
  'start-cluster-authentication-info-controller',
  'start-kube-apiserver-identity-lease-controller',
  'start-kube-apiserver-identity-lease-garbage-collector',
  'storage-readiness',
  'start-legacy-token-tracking-controller',
  'start-service-ip-repair-controllers',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-kubernetes-service-cidr-controller',
  'aggregator-reload-proxy-client-cert',
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-registration-controller',
  'apiservice-discovery-controller',
  'kube-apiserver-autoregistration',
];
const lateHooks = ['apiservice-openapi-controller', 'apiservice-openapiv3-controller'];

export interface HealthState {
  /** Bootstrap is done and controllers run. */
  started: boolean;
  draining: boolean;
  /** Undefined when the store answers, else why not. */
  storeFailing: string | undefined;
  /** While the server is this young, livez forgives what has not started. */
  withinGrace: boolean;
}

type Endpoint = 'healthz' | 'livez' | 'readyz';

export class Health {
  readonly #state: () => HealthState;

  constructor(state: () => HealthState) {
    this.#state = state;
  }

  /** `path`: after the endpoint, without slashes around it; empty for all checks. Undefined: no such check. */
  answer(endpoint: Endpoint, path: string, query: readonly (readonly [string, string])[]): ApiResponse | undefined {
    const checks = this.#checks(endpoint);
    if (path !== '') {
      const check = checks.find(({name}) => name === path);
      if (!check) return undefined;
      const why = check.failing();
      return why === undefined ? text(200, 'ok') : text(500, `internal server error: ${why}\n`);
    }
    return this.#all(endpoint, checks, query);
  }

  names(endpoint: Endpoint): string[] {
    return this.#checks(endpoint).map(({name}) => name);
  }

  /** /metrics/slis */
  slis(): string {
    const name = 'kubernetes_healthcheck';
    const lines = [`# HELP ${name} Result of one check: 1 is well.`, `# TYPE ${name} gauge`];
    for (const endpoint of ['healthz', 'livez', 'readyz'] as const)
      for (const check of this.#checks(endpoint))
        lines.push(`${name}{name="${check.name}",type="${endpoint}"} ${check.failing() === undefined ? 1 : 0}`);
    return `${lines.join('\n')}\n`;
  }

  #all(endpoint: Endpoint, checks: readonly HealthCheck[], query: readonly (readonly [string, string])[]): ApiResponse {
    const excluded = new Set(query.filter(([name]) => name === 'exclude').map(([, value]) => value));
    const lines: string[] = [];
    let failed = false;
    for (const check of checks) {
      if (excluded.delete(check.name)) lines.push(`[+]${check.name} excluded: ok`);
      else if (check.failing() === undefined) lines.push(`[+]${check.name} ok`);
      else {
        failed = true;
        lines.push(`[-]${check.name} failed: reason withheld`);
      }
    }
    if (excluded.size > 0)
      lines.push(
        `warn: some health checks cannot be excluded: no matches for ${[...excluded].map((name) => JSON.stringify(name)).join(', ')}`,
      );
    if (failed) return text(500, `${lines.join('\n')}\n${endpoint} check failed\n`);
    if (queryValue(query, 'verbose') === undefined) return text(200, 'ok');
    return text(200, `${lines.join('\n')}\n${endpoint} check passed\n`);
  }

  #checks(endpoint: Endpoint): HealthCheck[] {
    const state = this.#state();
    const well = {failing: () => undefined};
    const forgiven = endpoint === 'livez' && state.withinGrace;
    const hook = {failing: () => (state.started || forgiven ? undefined : 'not finished')};
    const store = {failing: () => state.storeFailing};
    const ready = endpoint === 'readyz';
    return [
      {name: 'ping', ...well},
      {name: 'log', ...well},
      ...(ready ? [] : [{name: 'loopback-serving-certificate', ...well}]),
      {name: 'etcd', ...store},
      {name: 'store', ...store},
      ...(ready
        ? [
            {name: 'etcd-readiness', ...store},
            {name: 'informer-sync', ...hook},
          ]
        : []),
      ...startHooks.map((name) => ({name: `poststarthook/${name}`, ...hook})),
      {name: 'autoregister-completion', ...hook},
      ...lateHooks.map((name) => ({name: `poststarthook/${name}`, ...hook})),
      ...(ready ? [{name: 'shutdown', failing: () => (state.draining ? 'process is shutting down' : undefined)}] : []),
    ];
  }
}

const text = (status: number, body: string): ApiResponse => ({
  status,
  headers: {'cache-control': 'no-cache, private', 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff'},
  body: Buffer.from(body),
});

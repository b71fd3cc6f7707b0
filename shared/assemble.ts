/** Which parts an API is made of, wired together: what createApi walks a request through. */
import type {ApiOptions, Log} from './api.ts';
import {type Authenticator, createAuthenticator} from './auth/authenticate.ts';
import {createAuthorizer} from './auth/authorize.ts';
import {type FlowKind, FlowSchemas} from './auth/flow-schemas.ts';
import {Impersonator} from './auth/impersonate.ts';
import {RbacAuthorizer} from './auth/rbac/rbac-authorizer.ts';
import {RbacIndex, type RbacKind} from './auth/rbac/rbac-index.ts';
import {boundObjects} from './auth/service-account/bound-objects.ts';
import {TokenIssuer} from './auth/service-account/issuer.ts';
import {signingKey, type VerificationKey} from './auth/service-account/keys.ts';
import {shareKeys} from './auth/service-account/published-keys.ts';
import {ServiceAccountVerifier} from './auth/service-account/verifier.ts';
import {TokenAuthenticator} from './auth/tokens.ts';
import type {Attributes} from './auth/user.ts';
import {Collections} from './changes/collection.ts';
import {Hubs} from './changes/hub.ts';
import {ObjectCaches} from './changes/object-cache.ts';
import {systemClock} from './clock.ts';
import {Metrics} from './http/metrics.ts';
import type {createServiceAllocator} from './registry/allocators/service.ts';
import {catalogue} from './registry/catalogue.ts';
import type {Machine} from './registry/context.ts';
import {Creators} from './registry/creators.ts';
import {cachedLookups} from './registry/lookups.ts';
import type {Quotas} from './registry/quotas.ts';
import type {ReviewServices} from './registry/reviews/review.ts';

export interface Assembly {
  machine: Machine;
  log: Log;
  authenticate: Authenticator;
  impersonator: Impersonator;
  issuer: string;
  verificationKeys: readonly VerificationKey[];
  flowControlHeaders(attributes: Attributes): Record<string, string> | undefined;
  /** Resolves when what decides requests (roles, flow schemas) is in memory. */
  warmUp(): Promise<void>;
  endWatches(): void;
}

/** What only some verbs need: where it is left out, nothing of it is loaded. */
export interface Rooms {
  allocator?: typeof createServiceAllocator;
  quotas?(options: ConstructorParameters<typeof Quotas>[0]): Quotas;
  reviews?(services: ReviewServices): Machine['reviews'];
}

const silent: Log = {debug() {}, info() {}, warn() {}, error() {}};
const defaultIssuer = 'https://kubernetes.default.svc';
const defaultContinueTtlMs = 300_000;
const rbacTypes: Record<RbacKind, string> = {
  ClusterRole: 'clusterroles.rbac.authorization.k8s.io',
  ClusterRoleBinding: 'clusterrolebindings.rbac.authorization.k8s.io',
  Role: 'roles.rbac.authorization.k8s.io',
  RoleBinding: 'rolebindings.rbac.authorization.k8s.io',
};

const flowTypes: Record<FlowKind, string> = {
  PriorityLevelConfiguration: 'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  FlowSchema: 'flowschemas.flowcontrol.apiserver.k8s.io',
};

export function assemble(options: ApiOptions, rooms: Rooms): Assembly {
  const {store, clock = systemClock, log = silent} = options;
  const issuer = options.serviceAccountIssuer ?? defaultIssuer;
  const audiences = [issuer];
  const caches = new ObjectCaches(store, (error, type, key) => log.error({error: String(error), type, key}, 'a change was not understood'));
  const rbac = new RbacIndex();
  const authorizer = createAuthorizer({rbac: new RbacAuthorizer(rbac)});
  const key = signingKey(options.serviceAccountKey);
  const keys: VerificationKey[] = [key];
  const serviceAccounts: ServiceAccountVerifier = new ServiceAccountVerifier({
    keys,
    issuers: [issuer],
    audiences,
    clock,
    objects: boundObjects(store, caches, (resource, objectKey) => serviceAccounts.forget(resource, objectKey)),
  });
  const tokens = new TokenAuthenticator({
    audiences,
    serviceAccounts,
    ...(options.staticTokens && {staticTokens: options.staticTokens}),
    ...(options.awsIam && {awsIam: options.awsIam}),
  });
  const drain = new AbortController();
  const metrics = new Metrics();
  const lookups = cachedLookups({caches, authorizer, clock, store});
  const machine: Machine = {
    store,
    clock,
    log,
    catalogue: catalogue(),
    hubs: new Hubs(store),
    collections: new Collections(store, clock),
    caches,
    authorizer,
    rbac,
    lookups,
    metrics,
    nodes: options.nodes,
    allocator:
      rooms.allocator?.({
        store,
        now: () => clock.now(),
        ranges: (options.serviceClusterIpRange ?? '10.0.0.0/24').split(','),
        nodePorts: parsePortRange(options.serviceNodePortRange ?? '30000-32767'),
      }) ?? absent('allocator of addresses'),
    reviews: rooms.reviews?.({tokens, issuer: new TokenIssuer(issuer, key), authorizer, rbac}) ?? absent('reviews'),
    creators: new Creators(),
    quotas: rooms.quotas?.({store, caches, clock}) ?? absent('quotas'),
    ...(options.nodeLiveness && {nodeLiveness: options.nodeLiveness}),
    continueTokenTtlMs: options.continueTokenTtlMs ?? defaultContinueTtlMs,
    drain: drain.signal,
  };
  const flows = new FlowSchemas();
  return {
    machine,
    log,
    authenticate: createAuthenticator({tokens}),
    impersonator: new Impersonator(authorizer),
    issuer,
    verificationKeys: keys,
    flowControlHeaders(attributes) {
      const flow = flows.match(attributes);
      return flow && {'x-kubernetes-pf-flowschema-uid': flow.flowSchemaUid, 'x-kubernetes-pf-prioritylevel-uid': flow.priorityLevelUid};
    },
    async warmUp() {
      // One of its own making, for want of another, is nobody else's concern.
      if (options.serviceAccountKey !== undefined) await shareKeys(store, caches, key, keys);
      const kinds = Object.entries(rbacTypes) as [RbacKind, string][];
      await Promise.all(
        kinds.map(async ([kind, type]) => {
          (await caches.of(type)).onChange((objectKey, object) =>
            object ? rbac.set(kind, object, objectKey) : rbac.delete(kind, objectKey),
          );
        }),
      );
      for (const [kind, type] of Object.entries(flowTypes) as [FlowKind, string][])
        (await caches.of(type)).onChange((name, object) => (object ? flows.set(kind, object) : flows.delete(kind, name)));
    },
    endWatches: () => drain.abort(),
  };
}

/** Stands for a room that was left out; whoever enters it all the same learns which. */
function absent<T extends object>(room: string): T {
  const refuse = (): never => {
    throw new Error(`this function was made without ${room}`);
  };
  return new Proxy({} as T, {get: refuse});
}

/** `30000-32767`, `30000+100`, `30000`. @throws Error */
export function parsePortRange(text: string): {first: number; last: number} {
  const match = /^(\d+)(?:([-+])(\d+))?$/.exec(text.trim());
  const first = Number(match?.[1]);
  const last = match?.[2] === '-' ? Number(match[3]) : match?.[2] === '+' ? first + Number(match[3]) : first;
  if (!match || first < 1 || last > 65_535 || last < first)
    throw new Error(`invalid port range ${JSON.stringify(text)}: want FIRST-LAST within 1-65535`);
  return {first, last};
}

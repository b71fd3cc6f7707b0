/** What every cluster starts with, as objects. Data from the reference; addresses and certificates from the options. How they get there is in bootstrap.ts. */
import type {ResourcePath} from '../../client/client.ts';
import type {KubeObject} from '../../object.ts';
import cluster from './data/cluster.json' with {type: 'json'};
import rbac from './data/rbac.json' with {type: 'json'};
import {keepAddresses, keepData, keepOnce, keepSpec, type Reconcile, reconcileBinding, reconcileRole} from './reconcile.ts';

export interface BootstrapOptions {
  /** Where clients reach the server. */
  advertise?: {address: string; port: number};
  /** CIDR blocks of services, comma separated. Default 10.0.0.0/24. */
  serviceClusterIpRange?: string;
  /** PEM of the CA that client certificates are verified with. */
  clientCaCertificate?: string;
  /** There will be nodes, whose figures can be read: see figuresOfNodes. */
  figures?: boolean;
}

export interface Desired {
  path: ResourcePath;
  object: KubeObject;
  reconcile: Reconcile;
  /** Conditions that only the status subresource may write. */
  conditions?: readonly Condition[];
}

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}

const path = (groupVersion: string, resource: string, namespace?: string): ResourcePath => ({
  groupVersion,
  resource,
  ...(namespace !== undefined && {namespace}),
});

/** In the order in which they must exist: a later stage needs the namespaces of the first. */
export function desiredStages(options: BootstrapOptions, now: number): Desired[][] {
  return [
    [
      ...namespaces(),
      ...roles(),
      ...roleBindings(),
      ...flowControl(),
      ...priorityClasses(),
      ...apiServices(),
      ...(options.figures ? figuresOfNodes() : []),
      serviceRange(options),
    ],
    [...namespacedRoles(), ...namespacedRoleBindings(), ...kubernetesService(options), ...configMaps(options, now)],
  ];
}

const namespaces = (): Desired[] =>
  cluster.namespaces.map((name) => ({
    path: path('v1', 'namespaces'),
    object: {kind: 'Namespace', apiVersion: 'v1', metadata: {name}},
    reconcile: keepOnce,
  }));

const rbacVersion = 'rbac.authorization.k8s.io/v1';
const rbacGroup = 'rbac.authorization.k8s.io';
const bootstrappingLabel = {'kubernetes.io/bootstrapping': 'rbac-defaults'};
const autoUpdate = {'rbac.authorization.kubernetes.io/autoupdate': 'true'};

interface RoleRow {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
  rules?: object[];
  aggregationRule?: object;
}

interface BindingRow {
  name: string;
  namespace?: string;
  role: string[];
  subjects?: string[][];
}

const roleOf = (kind: string, resource: string, {name, namespace, labels, ...rest}: RoleRow): Desired => ({
  path: path(rbacVersion, resource, namespace),
  object: {
    kind,
    apiVersion: rbacVersion,
    metadata: {name, ...(namespace && {namespace}), labels: {...bootstrappingLabel, ...labels}, annotations: autoUpdate},
    ...rest,
  },
  reconcile: reconcileRole,
});

const bindingOf = (kind: string, resource: string, {name, namespace, role, subjects = []}: BindingRow): Desired => ({
  path: path(rbacVersion, resource, namespace),
  object: {
    kind,
    apiVersion: rbacVersion,
    metadata: {name, ...(namespace && {namespace}), labels: bootstrappingLabel, annotations: autoUpdate},
    ...(subjects.length > 0 && {subjects: subjects.map(subjectOf)}),
    roleRef: {apiGroup: rbacGroup, kind: role[0], name: role[1]},
  },
  reconcile: reconcileBinding,
});

const subjectOf = ([kind, name, namespace]: string[]): object =>
  kind === 'ServiceAccount' ? {kind, name, namespace} : {kind, apiGroup: rbacGroup, name};

const roles = (): Desired[] => (rbac.clusterRoles as RoleRow[]).map((row) => roleOf('ClusterRole', 'clusterroles', row));
const namespacedRoles = (): Desired[] => (rbac.roles as RoleRow[]).map((row) => roleOf('Role', 'roles', row));
const roleBindings = (): Desired[] =>
  (rbac.clusterRoleBindings as BindingRow[]).map((row) => bindingOf('ClusterRoleBinding', 'clusterrolebindings', row));
const namespacedRoleBindings = (): Desired[] =>
  (rbac.roleBindings as BindingRow[]).map((row) => bindingOf('RoleBinding', 'rolebindings', row));

const flowVersion = 'flowcontrol.apiserver.k8s.io/v1';
const autoUpdateSpec = {'apf.kubernetes.io/autoupdate-spec': 'true'};

function flowControl(): Desired[] {
  const levels = cluster.priorityLevels.map(
    ({name, spec}): Desired => ({
      path: path(flowVersion, 'prioritylevelconfigurations'),
      object: {kind: 'PriorityLevelConfiguration', apiVersion: flowVersion, metadata: {name, annotations: autoUpdateSpec}, spec},
      reconcile: keepSpec,
    }),
  );
  const schemas = cluster.flowSchemas.map(
    ({name, spec}): Desired => ({
      path: path(flowVersion, 'flowschemas'),
      object: {kind: 'FlowSchema', apiVersion: flowVersion, metadata: {name, annotations: autoUpdateSpec}, spec},
      reconcile: keepSpec,
      conditions: [
        {
          type: 'Dangling',
          status: 'False',
          reason: 'Found',
          message: `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(spec.priorityLevelConfiguration.name)} and it exists`,
        },
      ],
    }),
  );
  return [...levels, ...schemas];
}

const priorityClasses = (): Desired[] =>
  cluster.priorityClasses.map(({name, ...rest}) => ({
    path: path('scheduling.k8s.io/v1', 'priorityclasses'),
    object: {kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', metadata: {name}, ...rest},
    reconcile: keepOnce,
  }));

const registrationVersion = 'apiregistration.k8s.io/v1';

const apiServices = (): Desired[] =>
  (cluster.apiServices as [string, string, number, number][]).map(([group, version, groupPriorityMinimum, versionPriority]) => ({
    path: path(registrationVersion, 'apiservices'),
    object: {
      kind: 'APIService',
      apiVersion: registrationVersion,
      metadata: {name: `${version}.${group}`, labels: {'kube-aggregator.kubernetes.io/automanaged': 'onstart'}},
      spec: {...(group && {group}), version, groupPriorityMinimum, versionPriority},
    },
    reconcile: keepSpec,
  }));

const gathered = ['admin', 'edit', 'view'].map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']);

/** What metrics-server's installation makes. Served from the nodes' agents, until an administrator has another server say it. */
export const figuresOfNodes = (): Desired[] => [
  {
    path: path(registrationVersion, 'apiservices'),
    object: {
      kind: 'APIService',
      apiVersion: registrationVersion,
      metadata: {name: 'v1beta1.metrics.k8s.io'},
      spec: {group: 'metrics.k8s.io', version: 'v1beta1', groupPriorityMinimum: 100, versionPriority: 100},
    },
    reconcile: keepOnce,
  },
  {
    path: path(rbacVersion, 'clusterroles'),
    object: {
      kind: 'ClusterRole',
      apiVersion: rbacVersion,
      metadata: {name: 'system:aggregated-metrics-reader', labels: Object.fromEntries(gathered)},
      rules: [{apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch']}],
    },
    reconcile: keepOnce,
  },
];

const networkingVersion = 'networking.k8s.io/v1';

const serviceRange = ({serviceClusterIpRange = '10.0.0.0/24'}: BootstrapOptions): Desired => ({
  path: path(networkingVersion, 'servicecidrs'),
  object: {
    kind: 'ServiceCIDR',
    apiVersion: networkingVersion,
    metadata: {name: 'kubernetes'},
    spec: {cidrs: serviceClusterIpRange.split(',')},
  },
  reconcile: keepOnce,
  conditions: [{type: 'Ready', status: 'True', reason: '', message: 'Kubernetes default Service CIDR is ready'}],
});

/** The API as a service of the cluster. Where it listens may change with every start. */
function kubernetesService({advertise = {address: '127.0.0.1', port: 6443}, serviceClusterIpRange}: BootstrapOptions): Desired[] {
  const {address, port} = advertise;
  // A loopback address is nobody else's way here, and no endpoint may have one; a host name is no address, and what is behind it changes.
  const isReachable = /^[\d.]+$|:/.test(address) && !/^(127\.|::1$)/.test(address);
  const metadata = {name: 'kubernetes', namespace: 'default'};
  const ports = [{name: 'https', port, protocol: 'TCP'}];
  return [
    {
      path: path('v1', 'services', 'default'),
      object: {
        kind: 'Service',
        apiVersion: 'v1',
        metadata: {...metadata, labels: {component: 'apiserver', provider: 'kubernetes'}},
        spec: {
          type: 'ClusterIP',
          clusterIP: firstAddress(serviceClusterIpRange),
          sessionAffinity: 'None',
          ports: [{name: 'https', protocol: 'TCP', port: 443, targetPort: port}],
        },
      },
      reconcile: keepAddresses,
    },
    {
      path: path('v1', 'endpoints', 'default'),
      object: {
        kind: 'Endpoints',
        apiVersion: 'v1',
        metadata: {...metadata, labels: {'endpointslice.kubernetes.io/skip-mirror': 'true'}},
        ...(isReachable && {subsets: [{addresses: [{ip: address}], ports}]}),
      },
      reconcile: keepAddresses,
    },
    {
      path: path('discovery.k8s.io/v1', 'endpointslices', 'default'),
      object: {
        kind: 'EndpointSlice',
        apiVersion: 'discovery.k8s.io/v1',
        metadata: {...metadata, labels: {'kubernetes.io/service-name': 'kubernetes'}},
        addressType: address.includes(':') ? 'IPv6' : 'IPv4',
        endpoints: isReachable ? [{addresses: [address], conditions: {ready: true}}] : [],
        ports,
      },
      reconcile: keepAddresses,
    },
  ];
}

/** The API has the first address of the range. */
export function firstAddress(range = '10.0.0.0/24'): string {
  const [base = ''] = range.split(',')[0]!.split('/');
  if (base.includes(':'))
    return base.endsWith('::') ? `${base}1` : base.replace(/[^:]*$/, (last) => (Number.parseInt(last || '0', 16) + 1).toString(16));
  const octets = base.split('.').map(Number);
  for (let at = 3; at >= 0; at--) {
    octets[at] = (octets[at]! + 1) % 256;
    if (octets[at] !== 0) break;
  }
  return octets.join('.');
}

function configMaps({clientCaCertificate}: BootstrapOptions, now: number): Desired[] {
  const configMap = (name: string, data: Record<string, string>, reconcile: Reconcile): Desired => ({
    path: path('v1', 'configmaps', 'kube-system'),
    object: {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name, namespace: 'kube-system'}, data},
    reconcile,
  });
  return [
    // Aggregated servers read here whom they may trust.
    configMap('extension-apiserver-authentication', clientCaCertificate ? {'client-ca-file': clientCaCertificate} : {}, keepData),
    configMap('kube-apiserver-legacy-service-account-token-tracking', {since: new Date(now).toISOString().slice(0, 10)}, keepOnce),
  ];
}

/**
 * Makes shared/schema/data from the wire facts. Run by `npm run facts -- FACTS_DIR` when the facts change; its output is in git, so that
 * nothing else needs them. One type per line, so that a change of one type is a change of one line.
 */
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const [factsDir] = process.argv.slice(2);
if (!factsDir) {
  console.error('usage: npm run facts -- FACTS_DIR');
  process.exit(2);
}
const outDir = new URL('../shared/schema/data/', import.meta.url).pathname;
mkdirSync(join(outDir, 'types'), {recursive: true});
const readFacts = (name: string) => JSON.parse(readFileSync(join(factsDir, name), 'utf8'));

/** What decoding, protobuf, OpenAPI, strategic merge and field ownership ask of a field. */
const fieldKeys = [
  'name',
  'type',
  'pointer',
  'inline',
  'omitempty',
  'omitzero',
  'noJSON',
  'proto',
  'wire',
  'protoName',
  'patchStrategy',
  'patchMergeKey',
  'listType',
  'listMapKeys',
  'mapType',
  'structType',
  'default',
  'required',
  'optional',
];
const typeKeys = ['kind', 'structType', 'alias', 'values', 'enum', 'protoItems', 'noProto', 'customJSON', 'fields'];

const pick = (row: Record<string, unknown>, keys: string[]) =>
  Object.fromEntries(keys.filter((key) => row[key] !== undefined).map((key) => [key, row[key]]));

/** Strings that Go gives a type of another package, which its errors name. The facts say `string`. */
const uidFields: Record<string, string[]> = {
  'meta_v1.ObjectMeta': ['uid'],
  'meta_v1.OwnerReference': ['uid'],
  'meta_v1.Preconditions': ['uid'],
  'meta_v1.StatusDetails': ['uid'],
  'batch_v1.UncountedTerminatedPods': ['succeeded', 'failed'],
  'core_v1.ObjectReference': ['uid'],
  'core_v1.Preconditions': ['uid'],
  'authentication_v1.BoundObjectReference': ['uid'],
  'certificates_v1beta1.PodCertificateRequestSpec': ['podUID', 'serviceAccountUID', 'nodeUID'],
  'resource_v1.ResourceClaimConsumerReference': ['uid'],
  'resource_v1.DeviceRequestAllocationResult': ['shareID'],
};
const withGoType = (owner: string, field: Record<string, unknown>) =>
  uidFields[owner]?.includes(field['name'] as string) ? {...field, type: (field['type'] as string).replace('string', 'types.UID')} : field;

const machinery = [
  'meta_v1',
  'meta_v1beta1',
  'runtime',
  'util_intstr',
  'api_resource',
  'version',
  'apidiscovery_v2',
  'autoscaling_v1',
  'policy_v1beta1',
];
// policy/v1beta1 is not served, but its Eviction is still taken by the eviction subresource.
const served = new Set<string>();
for (const [gv, row] of Object.entries(readFacts('discovery.json').resources as Record<string, {default: boolean}>))
  if (row.default) served.add(gv);

/** Not of the reference itself: its file is kept by hand. */
const index: Record<string, string> = {'metrics.k8s.io/v1beta1': 'metrics_v1beta1'};
for (const file of readdirSync(join(factsDir, 'types')).sort()) {
  const name = file.replace(/\.json$/, '');
  if (name.startsWith('_')) continue;
  const facts = readFacts(`types/${file}`);
  const groupVersion = facts.group ? `${facts.group}/${facts.version}` : facts.version;
  if (!machinery.includes(name) && !served.has(groupVersion)) continue;
  if (Object.keys(facts.kinds).length > 0 && !machinery.slice(0, 7).includes(name)) index[groupVersion] = name;
  const lines = Object.entries(facts.types as Record<string, Record<string, unknown>>)
    .filter(([typeName]) => /^[A-Z]/.test(typeName))
    .map(([typeName, type]) => {
      const fields = type['fields'] as Record<string, unknown>[] | undefined;
      const row = {
        ...pick(type, typeKeys),
        ...(fields && {fields: fields.map((field) => withGoType(`${name}.${typeName}`, pick(field, fieldKeys)))}),
      };
      return `${JSON.stringify(typeName)}:${JSON.stringify(row)}`;
    });
  const head = JSON.stringify({
    group: facts.group,
    version: facts.version,
    source: facts.source,
    protoPackage: facts.protoPackage,
    kinds: facts.kinds,
  }).slice(0, -1);
  writeFileSync(join(outDir, 'types', file), `${head},"types":{\n${lines.join(',\n')}}}\n`);
}
writeFileSync(join(outDir, 'types', 'index.json'), `${JSON.stringify(index, null, 1)}\n`);

// What the reference made of objects that were given to it: the test of defaulting.
const testData = new URL('../shared/kinds/testdata/', import.meta.url).pathname;
mkdirSync(testData, {recursive: true});
const observed = (readFacts('defaults.json').objects as Record<string, unknown>[]).map((row) =>
  JSON.stringify(pick(row, ['id', 'kind', 'apiVersion', 'given', 'added', 'changed', 'removed'])),
);
writeFileSync(join(testData, 'defaults.jsonl'), `${observed.join('\n')}\n`);

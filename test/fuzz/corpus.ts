/** Objects of all kinds to begin from, as the facts about defaults give them, and where each is posted to. */
import {readFileSync} from 'node:fs';
import type {JsonObject} from '../../shared/object.ts';
import {parseGroupVersion} from '../../shared/object.ts';
import {type Catalogue, catalogue} from '../../shared/registry/catalogue.ts';
import type {Resource} from '../../shared/registry/resource.ts';

export interface Sample {
  resource: Resource;
  object: JsonObject;
  name: string;
}

export const namespace = 'fuzz';

export function loadCorpus(): Sample[] {
  const lines = readFileSync(new URL('../../shared/kinds/testdata/defaults.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  const samples: Sample[] = [];
  for (const line of lines) {
    const {given} = JSON.parse(line) as {given: JsonObject & {metadata?: JsonObject}};
    const gv = parseGroupVersion(String(given['apiVersion']));
    const resource = gv && catalogue().byKind(gv.group, gv.version, String(given['kind']));
    if (!resource) continue;
    if (given.metadata?.['namespace']) given.metadata['namespace'] = namespace;
    samples.push({resource, object: given, name: String(given.metadata?.['name'] ?? 'x')});
  }
  return samples;
}

export const pathOf = (resource: Resource, name = '', within = namespace): string => {
  const root = resource.group ? `/apis/${resource.group}/${resource.version}` : `/api/${resource.version}`;
  return `${root}${resource.namespaced && within ? `/namespaces/${within}` : ''}/${resource.resource}${name && `/${name}`}`;
};

export const allResources = (from: Catalogue = catalogue()): readonly Resource[] => from.resources;

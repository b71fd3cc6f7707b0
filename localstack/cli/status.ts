/** `clusterless status`: is it there, is it well, what does it hold. Exits with 3 when nothing runs, as service managers do. */
import {resolve} from 'node:path';
import type {KubeObject} from '../../shared/object.ts';
import {Refusal} from './fail.ts';
import {connect} from './remote.ts';
import {readServerFile} from './server-file.ts';

export async function status(flags: {data: string; output: 'text' | 'json'}): Promise<void> {
  const data = resolve(flags.data);
  const server = await readServerFile(data);
  if (!server) throw new Refusal(`no server runs over ${data}`, 3);
  const remote = await connect({data});
  try {
    const [ready, metrics, found] = await Promise.all([
      remote.once('GET', '/readyz?verbose'),
      remote.once('GET', '/metrics'),
      remote.once('GET', '/api/v1/nodes'),
    ]);
    const nodes = found.status === 200 ? (JSON.parse(found.text) as {items: KubeObject[]}).items.map(nodeFacts) : [];
    const objects = metrics.status === 200 ? storedObjects(metrics.text) : [];
    const failing = ready.text.split('\n').filter((line) => line.startsWith('[-]'));
    const facts = {
      ...server,
      data,
      ready: ready.status === 200,
      failing,
      objects: objects.reduce((sum, [, count]) => sum + count, 0),
      nodes,
    };
    if (flags.output === 'json') process.stdout.write(`${JSON.stringify({...facts, byResource: Object.fromEntries(objects)})}\n`);
    else {
      const rows: [string, string][] = [
        ['url', server.url],
        ['ready', [facts.ready ? 'yes' : 'no', ...failing].join('; ')],
        ['process', `${server.pid}, since ${server.startedAt}, release ${server.version}`],
        ['data', server.inMemory ? 'in memory' : data],
        ['kubeconfig', server.kubeconfig],
        [
          'objects',
          `${facts.objects}${
            objects.length
              ? ` (${objects
                  .slice(0, 5)
                  .map(([name, count]) => `${count} ${name}`)
                  .join(', ')})`
              : ''
          }`,
        ],
        ...nodes.map(({name, ready, message, agent, runtime}): [string, string] => [
          'node',
          [name, ready ? 'ready' : `not ready${message && ` (${message})`}`, agent, runtime].filter(Boolean).join(', '),
        ]),
      ];
      process.stdout.write(rows.map(([name, value]) => `${`${name}:`.padEnd(12)}${value}\n`).join(''));
    }
    if (!facts.ready) process.exitCode = 1;
  } finally {
    remote.close();
  }
}

interface NodeFacts {
  name: string;
  ready: boolean;
  message: string;
  agent: string;
  runtime: string;
}

function nodeFacts({metadata, status = {}}: KubeObject): NodeFacts {
  const condition = status.conditions?.find(({type}: {type: string}) => type === 'Ready');
  const {kubeletVersion = '', containerRuntimeVersion = ''} = status.nodeInfo ?? {};
  const message = condition?.message ?? 'it has not said how it is';
  return {name: metadata.name!, ready: condition?.status === 'True', message, agent: kubeletVersion, runtime: containerRuntimeVersion};
}

/** Most numerous first. */
export function storedObjects(metrics: string): [resource: string, count: number][] {
  const found = new Map<string, number>();
  for (const match of metrics.matchAll(/^apiserver_(?:storage|resource)_objects\{([^}]*)\} (\d+)/gm)) {
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(match[1]!)?.[1] ?? '';
    const resource = label('resource');
    const group = label('group');
    found.set(group && !resource.includes('.') ? `${resource}.${group}` : resource, Number(match[2]));
  }
  return [...found].filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
}

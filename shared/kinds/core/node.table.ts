/** Nodes in a table. */
import type {KubeObject} from '../../object.ts';
import {ageOf, nameOf, none, unknown} from '../common/cells.table.ts';
import {age, type KindTable, name, text, wide} from '../common/columns.table.ts';
import {list, type Part} from '../common/loose.ts';

export const nodeTable: KindTable = {
  columns: [
    name,
    text('Status', 'Whether the node is ready, and takes new pods.'),
    text('Roles', 'Roles by the labels of the node.'),
    age,
    text('Version', 'Version of the agent on the node.'),
    wide(text('Internal-IP', 'First address within the cluster.')),
    wide(text('External-IP', 'First address outside of the cluster.')),
    wide(text('OS-Image', 'Operating system of the node.')),
    wide(text('Kernel-Version', 'Kernel of the node, and its architecture.')),
    wide(text('Container-Runtime', 'Container runtime and its version.')),
  ],
  cells(object, now) {
    const {status = {}} = object;
    const info = status.nodeInfo ?? {};
    const kernel = info.kernelVersion || unknown;
    return [
      nameOf(object),
      statusText(object),
      roles(object.metadata.labels).join(',') || none,
      ageOf(object, now),
      info.kubeletVersion ?? '',
      addressOf(status, 'InternalIP'),
      addressOf(status, 'ExternalIP'),
      info.osImage || unknown,
      info.architecture ? `${kernel} (${info.architecture})` : kernel,
      info.containerRuntimeVersion || unknown,
    ];
  },
};

function statusText({spec, status}: KubeObject): string {
  const ready = list(status?.conditions).findLast(({type}) => type === 'Ready');
  const words = !ready ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable ? `${words},SchedulingDisabled` : words;
}

const rolePrefix = 'node-role.kubernetes.io/';

/** A label per role, or the older label whose value is the role. */
function roles(labels: Record<string, string> = {}): string[] {
  const found = new Set<string>();
  for (const [key, value] of Object.entries(labels)) {
    const role = key.startsWith(rolePrefix) ? key.slice(rolePrefix.length) : key === 'kubernetes.io/role' ? value : '';
    if (role !== '') found.add(role);
  }
  return [...found].sort();
}

const addressOf = (status: Part, wanted: string): string => list(status.addresses).find(({type}) => type === wanted)?.address ?? none;

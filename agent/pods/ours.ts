/**
 * What of the runtime's lists is believed to be ours: entries that carry our marks, and are what these say. Folders are named and removed by
 * them, so one that could lead elsewhere is nobody's: it is left alone.
 */
import type {Container, Sandbox} from '../runtime/runtime.ts';
import {label, managedLabels} from './names.ts';

const uid = /^[0-9A-Za-z][-0-9A-Za-z]{0,63}$/;
/** Of pods, namespaces and containers: no path among them. */
const name = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

function isMarked(entry: Pick<Sandbox, 'id' | 'labels'>): boolean {
  const labels = entry.labels ?? {};
  return (
    Boolean(entry.id) &&
    Object.entries(managedLabels).every(([key, value]) => labels[key] === value) &&
    uid.test(labels[label.podUid] ?? '') &&
    name.test(labels[label.podName] ?? '') &&
    name.test(labels[label.podNamespace] ?? '')
  );
}

export const isOurSandbox = (sandbox: Sandbox): boolean =>
  isMarked(sandbox) &&
  sandbox.metadata?.uid === sandbox.labels[label.podUid] &&
  sandbox.metadata?.name === sandbox.labels[label.podName] &&
  sandbox.metadata?.namespace === sandbox.labels[label.podNamespace];

export const isOurContainer = (container: Container): boolean =>
  isMarked(container) &&
  container.metadata !== undefined &&
  Boolean(container.podSandboxId) &&
  name.test(container.labels[label.container] ?? '');

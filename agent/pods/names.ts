/** How the agent marks what it makes in the runtime, so that it finds all of it again after a crash, and touches nothing else. */
import {createHash} from 'node:crypto';
import type {Container, Handler, Pod, ResourceRequirements} from './pod.ts';

const prefix = 'io.nodeagent.';

export const label = {
  managed: `${prefix}managed`,
  podName: `${prefix}pod.name`,
  podNamespace: `${prefix}pod.namespace`,
  podUid: `${prefix}pod.uid`,
  container: `${prefix}container.name`,
} as const;

const note = {
  hash: `${prefix}container.hash`,
  restarts: `${prefix}container.restarts`,
  messagePath: `${prefix}container.termination-message-path`,
  messagePolicy: `${prefix}container.termination-message-policy`,
  kind: `${prefix}container.kind`,
  preStop: `${prefix}container.pre-stop`,
  ports: `${prefix}container.ports`,
  resources: `${prefix}container.resources`,
  grace: `${prefix}pod.grace-seconds`,
} as const;

export type ContainerKind = 'init' | 'sidecar' | 'app' | 'ephemeral';

export const managedLabels = {[label.managed]: 'true'};

export const podLabels = ({metadata}: Pod): Record<string, string> => ({
  ...managedLabels,
  [label.podName]: metadata.name,
  [label.podNamespace]: metadata.namespace,
  [label.podUid]: metadata.uid,
});

/** What has to be known of a container when its pod is gone from every source. */
export interface ContainerNotes {
  hash: string;
  restarts: number;
  messagePath: string;
  messagePolicy: string;
  kind: ContainerKind;
  graceSeconds: number;
  preStop?: Handler;
  ports: {name?: string; containerPort: number}[];
  /** What it was made with. */
  resources?: ResourceRequirements;
}

export function writeNotes(notes: ContainerNotes): Record<string, string> {
  return {
    [note.hash]: notes.hash,
    [note.restarts]: String(notes.restarts),
    [note.messagePath]: notes.messagePath,
    [note.messagePolicy]: notes.messagePolicy,
    [note.kind]: notes.kind,
    [note.grace]: String(notes.graceSeconds),
    ...(notes.preStop && {[note.preStop]: JSON.stringify(notes.preStop)}),
    ...(notes.ports.length > 0 && {[note.ports]: JSON.stringify(notes.ports)}),
    ...(notes.resources && {[note.resources]: JSON.stringify(notes.resources)}),
  };
}

/** Of a container that another program marked as ours the worst that can come out is a default. */
export function readNotes(annotations: Readonly<Record<string, string>>): ContainerNotes {
  const preStop = json(annotations[note.preStop]) as Handler | undefined;
  const resources = json(annotations[note.resources]) as ResourceRequirements | undefined;
  return {
    hash: annotations[note.hash] ?? '',
    restarts: Number(annotations[note.restarts]) || 0,
    messagePath: annotations[note.messagePath] ?? '',
    messagePolicy: annotations[note.messagePolicy] ?? 'File',
    kind: (annotations[note.kind] as ContainerKind) ?? 'app',
    graceSeconds: Number(annotations[note.grace] ?? 30),
    ...(preStop && {preStop}),
    ...(resources && {resources}),
    ports: (json(annotations[note.ports]) as ContainerNotes['ports']) ?? [],
  };
}

function json(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of what makes it another container: its image and name. The rest of a container's specification cannot change, or needs no restart. */
export const containerHash = ({name, image}: Container): string =>
  createHash('sha256')
    .update(JSON.stringify([name, image]))
    .digest('hex')
    .slice(0, 16);

export const logDirectory = (root: string, {name, namespace, uid}: Pod['metadata']): string => `${root}/${namespace}_${name}_${uid}`;

/** Warnings of kinds that make pods from a template, on create and whenever their generation grows. */
import type {KubeObject} from '../../object.ts';
import type {Strategy} from '../strategy.ts';
import {dns1123Label} from './names.ts';
import {templateWarnings} from './pod-warnings.ts';

/** Names of pods are made from this one, and host names from those. */
function nameWarnings({metadata}: KubeObject): string[] {
  const problems = dns1123Label(metadata.name ?? '');
  return problems.length
    ? [
        `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
      ]
    : [];
}

interface WorkloadWarnings {
  named?: boolean;
  /** Warnings of the kind's own, given after those of its name. */
  own?(object: KubeObject): string[];
}

export function workloadWarnings({
  named = false,
  own,
}: WorkloadWarnings = {}): Required<Pick<Strategy, 'warningsOnCreate' | 'warningsOnUpdate'>> {
  const ofTemplate = ({spec}: KubeObject): string[] => templateWarnings(spec?.template, 'spec.template');
  return {
    warningsOnCreate: (object) => [...(named ? nameWarnings(object) : []), ...ofTemplate(object), ...(own?.(object) ?? [])],
    warningsOnUpdate: (object, old) => [
      ...(object.metadata.generation === old.metadata.generation ? [] : ofTemplate(object)),
      ...(own?.(object) ?? []),
    ],
  };
}

export const nameOfPods = nameWarnings;

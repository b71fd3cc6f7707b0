/** Labels of nodes that have newer names, wherever somebody selects by them. */
import {list, type Part} from './loose.ts';
import {validLabelValue} from './names.ts';

const successors: Record<string, string> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

/** Nothing, or the one text. */
export const labelKeyWarning = (key: string): string[] => (Object.hasOwn(successors, key) ? [successors[key]!] : []);

/** `values`: also warn of values that no label can have; where they are only preferred nobody refuses them. */
export function termWarnings(term: Part, path: string, values: boolean): string[] {
  return list(term?.matchExpressions).flatMap(({key = '', values: given}, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    return [
      ...labelKeyWarning(key).map((words) => `${at}.key: ${key} is ${words}`),
      ...(values
        ? list(given).flatMap((value: string, position) =>
            validLabelValue(value).map((words) => `${at}.values[${position}]: ${value} is invalid, ${words}`),
          )
        : []),
    ];
  });
}

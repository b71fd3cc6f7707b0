/** How error texts quote parts that upstream's validation sees in its internal form: fields named as in Go, absent ones null. */
import type {Part} from './loose.ts';

/** A field and, for a part or a list of parts, its own fields. */
type Shape = readonly (string | readonly [field: string, shape: Shape])[];

export function internalForm(value: Part, shape: Shape): Part {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map((item) => internalForm(item, shape));
  return Object.fromEntries(
    shape.map((field) => {
      const [name, inner] = typeof field === 'string' ? [field, undefined] : field;
      return [name[0]!.toUpperCase() + name.slice(1), inner ? internalForm(value[name], inner) : (value[name] ?? null)];
    }),
  );
}

const requirements: Shape = ['key', 'operator', 'values'];
export const volumeNodeAffinityShape: Shape = [
  [
    'required',
    [
      [
        'nodeSelectorTerms',
        [
          ['matchExpressions', requirements],
          ['matchFields', requirements],
        ],
      ],
    ],
  ],
];
export const podFailurePolicyShape: Shape = [
  ['rules', ['action', ['onExitCodes', ['containerName', 'operator', 'values']], ['onPodConditions', ['type', 'status']]]],
];
export const successPolicyShape: Shape = [['rules', ['succeededIndexes', 'succeededCount']]];

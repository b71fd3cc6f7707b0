/** References by kind and name, as ingresses and ingress classes hold them. */
import {type FieldError, required} from '../../field-errors.ts';
import {problems, subdomain} from '../common/checks.ts';
import type {Part} from '../common/loose.ts';
import {pathSegment} from '../common/names.ts';

/** A field that has to be there and can stand in a path. */
export const segment = (value: string | undefined, path: string): FieldError[] =>
  value ? problems(path, value, pathSegment(value)) : [required(path)];

export const typedReference = ({apiGroup, kind, name}: Part, path: string): FieldError[] => [
  ...(typeof apiGroup === 'string' ? subdomain(apiGroup, `${path}.apiGroup`) : []),
  ...segment(kind, `${path}.kind`),
  ...segment(name, `${path}.name`),
];

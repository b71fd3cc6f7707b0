/** Counters by their names: those of a set, or what a device takes of one. */
import {type FieldError, required} from '../../field-errors.ts';
import {label} from '../common/checks.ts';
import {entries, type Part} from '../common/loose.ts';
import {validateMap} from './collections.validate.ts';

const maxCounters = 32;
const maxNameBytes = 63;

export const validateCounters = (counters: Part, path: string): FieldError[] =>
  entries(counters).length === 0
    ? [required(path)]
    : validateMap(counters, {most: maxCounters, longestKey: maxNameBytes, path}, label, () => []);

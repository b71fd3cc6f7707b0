/** Types whose JSON is their own: times, quantities, numbers that may be strings, raw documents. */
import type {Json} from '../object.ts';
import {canonicalDuration, durationFault} from './duration.ts';
import {canonicalQuantity, quantityError} from './quantity.ts';
import {microTimeFault, readMicroTime, readTime, timeFault} from './time.ts';
import {type SpecialKind, type StructType, typeByRef} from './types.ts';

/** Reads a struct that stands within. Throws what does not fit. */
export type NestedReader = (given: Json, type: StructType) => Json;

export function zeroOfSpecial(kind: SpecialKind): Json {
  switch (kind) {
    case 'quantity':
      return '0';
    case 'intOrString':
      return 0;
    case 'duration':
      return '0s';
    default:
      return null;
  }
}

/** The normal spelling; undefined for what does not fit: specialFault says why. */
export function readSpecial(given: Json, kind: SpecialKind, nested: NestedReader): Json | undefined {
  switch (kind) {
    case 'time':
      return typeof given === 'string' ? readTime(given) : undefined;
    case 'microTime':
      return typeof given === 'string' ? readMicroTime(given) : undefined;
    case 'duration':
      return typeof given === 'string' ? canonicalDuration(given) : undefined;
    case 'quantity':
      if (typeof given === 'string') return canonicalQuantity(given) ?? canonicalQuantity(given.trim());
      return typeof given === 'number' ? canonicalQuantity(String(given)) : undefined;
    case 'intOrString':
      if (typeof given === 'string') return given;
      return typeof given === 'number' && (given | 0) === given ? given : undefined;
    case 'schemaOrBool':
      if (typeof given === 'boolean') return given;
      return isObject(given) ? nested(given, schemaType()) : undefined;
    case 'schemaOrArray':
      if (Array.isArray(given)) return given.length === 0 ? null : given.map((item) => nested(item ?? {}, schemaType()));
      return isObject(given) ? nested(given, schemaType()) : null;
    case 'schemaOrStringArray':
      if (Array.isArray(given)) {
        if (!given.every((item) => item === null || typeof item === 'string')) return undefined;
        return given.length === 0 ? null : given.map((item) => item ?? '');
      }
      return isObject(given) ? nested(given, schemaType()) : null;
    default:
      return given;
  }
}

const isObject = (value: Json): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

export const schemaType = (): StructType => typeByRef('apiextensions/v1.JSONSchemaProps') as StructType;

/** What Go says of text that is no time, duration or quantity. */
export function textFault(text: string, kind: SpecialKind): string | undefined {
  switch (kind) {
    case 'time':
      return readTime(text) === undefined ? timeFault(text) : undefined;
    case 'microTime':
      return readMicroTime(text) === undefined ? microTimeFault(text) : undefined;
    case 'duration':
      return canonicalDuration(text) === undefined ? durationFault(text) : undefined;
    case 'quantity':
      return canonicalQuantity(text.trim()) === undefined ? quantityError(text.trim()) : undefined;
    default:
      return undefined;
  }
}

export {durationNanos, printDuration} from './duration.ts';

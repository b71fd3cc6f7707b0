/** A rule of defaulting: fills in, in place, what one value of its type leaves open. Looks at nothing outside of that value. */
import type {Part} from './loose.ts';

export type Defaulter = (value: Part, now: number) => void;

/** Rules by the type that they are for: `core/v1.Probe`. */
export type Defaults = Readonly<Record<string, Defaulter>>;

/** Sets what is absent or empty. Go's zero values are absent or empty in JSON, so zeros that count as unset must be asked for. */
export function fill(value: Part, name: string, preset: Part): void {
  const given = value[name];
  if (given === undefined || given === null || given === '') value[name] = preset;
}

/** As fill, for numbers of which zero means unset. */
export function fillZero(value: Part, name: string, preset: number): void {
  if (!value[name]) value[name] = preset;
}

export const isEmptyList = (value: Part): boolean => value === undefined || value === null || value.length === 0;

/** Absent or without members. */
export function isEmptyMap(value: Part): boolean {
  for (const _key in value) return false;
  return true;
}

/** Parts of objects whose structure schema has already checked: described by data, not by TypeScript. */
// biome-ignore lint/suspicious/noExplicitAny: a type here would be a second, partial copy of the catalogue
export type Part = any;

/** A list that may be absent. */
export const list = (value: Part): Part[] => value ?? [];
/** A map that may be absent, as entries. */
export const entries = (value: Part): [string, Part][] => Object.entries(value ?? {});

/** A container, and where it stands. */
export type Located = readonly [path: string, container: Part];

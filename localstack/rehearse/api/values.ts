/** Names with all their values, as API Gateway's events have them. */
export type Values = Record<string, string[]>;

export function addValue(values: Values, name: string, value: string): void {
  const known = values[name];
  if (known) known.push(value);
  else values[name] = [value];
}

/** Of what is repeated, the last. */
export function lasts(values: Values): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all.at(-1)!]));
}

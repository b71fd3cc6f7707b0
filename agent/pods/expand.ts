/** `$(NAME)` in commands, arguments and values: replaced where the name is known, left where it is not; `$$` is a dollar sign. */
export function expand(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\$(\$|\(([^)]*)\))/g, (whole, what: string, name: string) => (what === '$' ? '$' : (values.get(name) ?? whole)));
}

/** The names that it could not replace. */
export const unknownNames = (text: string, values: ReadonlyMap<string, string>): string[] =>
  [...text.matchAll(/\$(\$|\(([^)]*)\))/g)].flatMap(([, what, name]) => (what === '$' || values.has(name!) ? [] : [name!]));

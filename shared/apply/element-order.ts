/**
 * The order of a merged list: what the patch names stands in the patch's order, what only the server has keeps its own, and the two
 * are interleaved by where they stood before.
 */
import type {Json} from '../object.ts';

/** What tells an item from others: its merge key's value, or itself. */
export type Identity = (item: Json) => string;

/** Items that `order` names are led by it; of the others, those that were there before keep the order of `live`. */
export function inOrder(merged: readonly Json[], order: readonly Json[], live: readonly Json[], identity: Identity): Json[] {
  const named = places(order, identity);
  const before = places(live, identity);
  const fromPatch = merged.filter((item) => named.has(identity(item)));
  const fromServer = merged.filter((item) => !named.has(identity(item)));
  return interleave(sortBy(fromServer, before, identity), sortBy(fromPatch, named, identity), before, identity);
}

/** The first place of each identity: items are looked up often, lists may be long. */
function places(list: readonly Json[], identity: Identity): Map<string, number> {
  const out = new Map<string, number>();
  for (const [at, item] of list.entries()) {
    const id = identity(item);
    if (!out.has(id)) out.set(id, at);
  }
  return out;
}

function sortBy(items: readonly Json[], order: ReadonlyMap<string, number>, identity: Identity): Json[] {
  const placeOf = (item: Json) => order.get(identity(item)) ?? Number.MAX_SAFE_INTEGER;
  return [...items].sort((a, b) => placeOf(a) - placeOf(b));
}

/** An item of the server goes before the next of the patch only when both were there, and it stood before that one. */
function interleave(
  fromServer: readonly Json[],
  fromPatch: readonly Json[],
  before: ReadonlyMap<string, number>,
  identity: Identity,
): Json[] {
  const out: Json[] = [];
  let next = 0;
  for (const item of fromPatch) {
    const place = before.get(identity(item));
    for (; place !== undefined && next < fromServer.length; next++) {
      const other = before.get(identity(fromServer[next]!));
      if (other === undefined || other >= place) break;
      out.push(fromServer[next]!);
    }
    out.push(item);
  }
  return [...out, ...fromServer.slice(next)];
}

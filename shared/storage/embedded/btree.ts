/** sorted-btree is CommonJS: its class arrives as `default`, or as `default.default`, depending on who loads or bundles it. */

import * as loaded from 'sorted-btree';

const outer = loaded.default as typeof loaded.default & {default?: typeof loaded.default};

export const BTree = outer.default ?? outer;
export type BTree<K, V> = loaded.default<K, V>;

/** What the function `list` serves: collections, and watches of them. */
import {listComponentStatuses} from '../component-status.ts';
import type {Handler} from '../context.ts';
import {list} from '../list.ts';

export const listing = {
  list: (context) => (context.resource.storageType === 'componentstatuses' ? listComponentStatuses(context) : list(context)),
  watch: list,
  watchOne: list,
} satisfies Record<string, Handler>;

/** What the function `delete-collection` serves. */
import type {Handler} from '../context.ts';
import {deleteCollection} from '../delete-collection.ts';

export const deletingCollections = {deletecollection: deleteCollection} satisfies Record<string, Handler>;

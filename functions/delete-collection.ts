import {deletingCollections} from '../shared/registry/served/delete-collection.ts';
import {writing} from '../shared/registry/served/writing.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('delete-collection', () => ({handlers: deletingCollections, ...writing}));

/** A snapshot of a controller's template. */
import {define} from '../define.ts';

export const controllerRevision = define({metadataOnUpdate: ['update', 'full']});

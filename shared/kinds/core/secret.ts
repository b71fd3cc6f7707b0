/** Configuration that should stay secret. What is written as stringData is stored as data. */
import {define} from '../define.ts';

export const secret = define({
  metadataOnUpdate: ['update', 'full'],
  prepareForUpdate(object, old) {
    if (!object.type) object.type = old.type;
  },
  selectableFields: (object) => ({type: object.type ?? ''}),
});

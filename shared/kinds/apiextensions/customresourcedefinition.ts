/** The definition of a kind that is data. Its schema is judged elsewhere; here is what happens to any definition that is written. */
import type {KubeObject} from '../../object.ts';
import {define} from '../define.ts';

export const customResourceDefinition = define({
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
  newStatus: (object) => ({conditions: null, acceptedNames: {plural: '', kind: ''}, storedVersions: storageVersions(object)}),
  prepareForUpdate(object, _old, {subresource}) {
    if (subresource !== '' || !object.status) return;
    const stored: string[] = object.status.storedVersions ?? [];
    const added = storageVersions(object).filter((version) => !stored.includes(version));
    object.status = {...object.status, storedVersions: [...stored, ...added]};
  },
});

const storageVersions = ({spec}: KubeObject): string[] => {
  const versions: {name: string; storage?: boolean}[] = spec?.versions ?? [];
  return versions
    .filter((version) => version.storage)
    .map((version) => version.name)
    .slice(0, 1);
};

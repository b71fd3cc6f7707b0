/** A definition of a kind: names follow from the kind's, and what is stored first is the version marked so. */
import {type Defaults, fill, isEmptyList} from '../common/defaulter.ts';
import {list} from '../common/loose.ts';

export const customResourceDefinitionDefaults: Defaults = {
  'apiextensions/v1.CustomResourceDefinition': ({spec, status}) => {
    const {names} = spec;
    if (names.kind) {
      fill(names, 'singular', names.kind.toLowerCase());
      fill(names, 'listKind', `${names.kind}List`);
    }
    spec.conversion ??= {strategy: 'None'};
    if (isEmptyList(status.storedVersions)) {
      const stored = list(spec.versions).find((version) => version.storage);
      if (stored) status.storedVersions = [stored.name];
    }
  },
  'apiextensions/v1.ServiceReference': (service) => {
    service.port ??= 443;
  },
};

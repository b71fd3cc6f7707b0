/** A namespace can be selected by a label that is its name. One that has no name yet gets the label with its name. */
import {type Defaults, fill} from '../common/defaulter.ts';

const nameLabel = 'kubernetes.io/metadata.name';

export const namespaceDefaults: Defaults = {
  'core/v1.Namespace': ({metadata}) => {
    if (!metadata.name || metadata.labels?.[nameLabel] === metadata.name) return;
    metadata.labels = {...metadata.labels, [nameLabel]: metadata.name};
  },
  'core/v1.NamespaceStatus': (status) => fill(status, 'phase', 'Active'),
};

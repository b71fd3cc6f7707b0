/** A pod that is bound to a node learns where that node stands. */
import type {Plugin} from './attributes.ts';

const topology = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

export const podTopologyLabels: Plugin = {
  name: 'PodTopologyLabels',
  operations: ['CREATE'],
  resources: ['pods'],
  subresources: ['binding'],
  async mutate({object, subresource}, lookups) {
    const target: string | undefined = subresource === 'binding' ? object?.target?.name : object?.spec?.nodeName;
    if (!object || !target) return;
    const node = await lookups.node(target);
    for (const key of topology) {
      const value = node?.metadata.labels?.[key];
      if (value !== undefined) object.metadata.labels = {...object.metadata.labels, [key]: value};
    }
  },
};

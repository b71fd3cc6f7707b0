/** A network policy: what it is about follows from what it says. */
import {type Defaults, fill, isEmptyList} from '../common/defaulter.ts';

export const networkPolicyDefaults: Defaults = {
  'networking/v1.NetworkPolicy': ({spec}) => {
    if (isEmptyList(spec.policyTypes)) spec.policyTypes = isEmptyList(spec.egress) ? ['Ingress'] : ['Ingress', 'Egress'];
  },
  'networking/v1.NetworkPolicyPort': (port) => fill(port, 'protocol', 'TCP'),
};

/** Which requests a webhook or a policy is about: all that are equivalent, in any namespace, in any scope. */
import type {Defaults} from '../common/defaulter.ts';
import type {Part} from '../common/loose.ts';

export function matchAll(value: Part): void {
  value.matchPolicy ??= 'Equivalent';
  value.namespaceSelector ??= {};
  value.objectSelector ??= {};
}

export const matchResourcesDefaults: Defaults = {
  'admissionregistration/v1.MatchResources': matchAll,
  'admissionregistration/v1.NamedRuleWithOperations': (rule) => {
    rule.scope ??= '*';
  },
  'admissionregistration/v1.RuleWithOperations': (rule) => {
    rule.scope ??= '*';
  },
  'admissionregistration/v1.ServiceReference': (service) => {
    service.port ??= 443;
  },
};

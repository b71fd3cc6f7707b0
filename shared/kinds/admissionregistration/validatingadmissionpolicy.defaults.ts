/** A policy that cannot be evaluated refuses. */
import type {Defaults} from '../common/defaulter.ts';

export const validatingAdmissionPolicyDefaults: Defaults = {
  'admissionregistration/v1.ValidatingAdmissionPolicySpec': (spec) => {
    spec.failurePolicy ??= 'Fail';
  },
};

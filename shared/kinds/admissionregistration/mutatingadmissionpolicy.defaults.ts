/** A policy that cannot be evaluated refuses. */
import type {Defaults} from '../common/defaulter.ts';

export const mutatingAdmissionPolicyDefaults: Defaults = {
  'admissionregistration/v1.MutatingAdmissionPolicySpec': (spec) => {
    spec.failurePolicy ??= 'Fail';
  },
};

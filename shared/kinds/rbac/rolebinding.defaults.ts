/** Bindings refer to roles of their own group, and to subjects in the group that knows them. */
import {type Defaulter, type Defaults, fill} from '../common/defaulter.ts';

const group = 'rbac.authorization.k8s.io';

export const roleOfOwnGroup: Defaulter = ({roleRef}) => fill(roleRef, 'apiGroup', group);

export const roleBindingDefaults: Defaults = {
  'rbac/v1.RoleBinding': roleOfOwnGroup,
  'rbac/v1.Subject': (subject) => {
    // Service accounts are of the core group, whose name is empty.
    if (subject.kind === 'User' || subject.kind === 'Group') fill(subject, 'apiGroup', group);
  },
};

/** A binding for the whole cluster; its subjects are those of role bindings. */
import type {Defaults} from '../common/defaulter.ts';
import {roleOfOwnGroup} from './rolebinding.defaults.ts';

export const clusterRoleBindingDefaults: Defaults = {
  'rbac/v1.ClusterRoleBinding': roleOfOwnGroup,
};

import type { ClusterRoleBinding } from '../../../kube/api/rbac-v1.ts';
import { pathSegmentProblems } from '../../validation/names.ts';
import type { Kind } from '../kind.ts';
import { age } from '../table-cells.ts';
import {
  bindingColumns,
  bindingRow,
  checkBinding,
  checkSameRole,
  setBindingDefaults,
} from './binding-rules.ts';

export const clusterRoleBindingKind: Kind<ClusterRoleBinding> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  namespaced: false,
  type: 'rbac.authorization.k8s.io/v1.ClusterRoleBinding',
  nameRule: (name) => pathSegmentProblems(name),
  hasStatus: false,
  hasGeneration: false,
  createOnUpdate: true,

  defaults: setBindingDefaults,
  validate(binding, errors) {
    checkBinding(errors, binding, ['ClusterRole']);
  },
  validateUpdate(binding, old, errors) {
    checkBinding(errors, binding, ['ClusterRole']);
    checkSameRole(errors, binding, old);
  },

  columns: bindingColumns,
  row: (binding, context) => bindingRow(binding, age(binding, context)),
};

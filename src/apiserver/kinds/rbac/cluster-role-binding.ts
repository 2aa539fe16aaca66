import type { ClusterRoleBinding } from '../../../kube/api/stored/rbac.ts';
import { pathSegmentProblems } from '../../validation/names.ts';
import type { ServedKind } from '../served-kind.ts';
import { age } from '../table-cells.ts';
import {
  bindingColumns,
  bindingRow,
  checkRoleBinding,
  checkSameRole,
  setBindingDefaults,
} from './binding-rules.ts';

export const clusterRoleBindingKind: ServedKind<ClusterRoleBinding> = {
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
    checkRoleBinding(errors, binding, ['ClusterRole']);
  },
  validateUpdate(binding, old, errors) {
    checkRoleBinding(errors, binding, ['ClusterRole']);
    checkSameRole(errors, binding, old);
  },

  columns: bindingColumns,
  row: (binding, context) => bindingRow(binding, age(binding, context)),
};

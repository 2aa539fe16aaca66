import type { RoleBinding } from '../../../kube/api/stored/rbac.ts';
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

export const roleBindingKind: ServedKind<RoleBinding> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  singular: 'rolebinding',
  namespaced: true,
  type: 'rbac.authorization.k8s.io/v1.RoleBinding',
  nameRule: (name) => pathSegmentProblems(name),
  hasStatus: false,
  hasGeneration: false,
  createOnUpdate: true,

  defaults: setBindingDefaults,
  validate(binding, errors) {
    checkRoleBinding(errors, binding, ['Role', 'ClusterRole']);
  },
  validateUpdate(binding, old, errors) {
    checkRoleBinding(errors, binding, ['Role', 'ClusterRole']);
    checkSameRole(errors, binding, old);
  },

  columns: bindingColumns,
  row: (binding, context) => bindingRow(binding, age(binding, context)),
};

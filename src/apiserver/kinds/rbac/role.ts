import type { Role } from '../../../kube/api/stored/rbac.ts';
import { pathSegmentProblems } from '../../validation/names.ts';
import type { ServedKind } from '../served-kind.ts';
import { nameColumn } from '../table-cells.ts';
import { checkPolicyRules } from './policy-rules.ts';

export const roleKind: ServedKind<Role> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  singular: 'role',
  namespaced: true,
  type: 'rbac.authorization.k8s.io/v1.Role',
  nameRule: (name) => pathSegmentProblems(name),
  hasStatus: false,
  hasGeneration: false,
  createOnUpdate: true,

  validate(role, errors) {
    checkPolicyRules(errors, role.rules, true);
  },

  columns: [nameColumn, { name: 'Created At', type: 'date' }],
  row: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? null],
};

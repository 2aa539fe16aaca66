/**
 * The group `rbac.authorization.k8s.io/v1`: roles and their bindings.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { clusterRoleKind } from './cluster-role.ts';
import { clusterRoleBindingKind } from './cluster-role-binding.ts';
import { roleKind } from './role.ts';
import { roleBindingKind } from './role-binding.ts';

export const rbacKinds: readonly ServedKind[] = [
  anyKind(roleKind),
  anyKind(clusterRoleKind),
  anyKind(roleBindingKind),
  anyKind(clusterRoleBindingKind),
];

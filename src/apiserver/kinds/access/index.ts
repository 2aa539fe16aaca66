import { anyKind, type Kind } from '../kind.ts';
import { clusterRoleKind } from './cluster-role.ts';
import { clusterRoleBindingKind } from './cluster-role-binding.ts';
import { roleKind } from './role.ts';
import { roleBindingKind } from './role-binding.ts';

export const accessKinds: readonly Kind[] = [
  anyKind(roleKind),
  anyKind(clusterRoleKind),
  anyKind(roleBindingKind),
  anyKind(clusterRoleBindingKind),
];

import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from '../../../kube/api/stored/rbac.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { dnsSubdomainProblems, pathSegmentProblems } from '../../validation/names.ts';
import type { TableCell, TableColumn } from '../served-kind.ts';
import { ageColumn, nameColumn } from '../table-cells.ts';

/** What both kinds of bindings have in common. */
type Binding = RoleBinding | ClusterRoleBinding;

const group = 'rbac.authorization.k8s.io';

export function setBindingDefaults(binding: Binding): void {
  if (binding.roleRef.apiGroup === '') binding.roleRef.apiGroup = group;
  for (const subject of binding.subjects ?? []) {
    const isRbacSubject = subject.kind === 'User' || subject.kind === 'Group';
    if (isRbacSubject && (subject.apiGroup ?? '') === '') subject.apiGroup = group;
  }
}

/** `roles`: the kinds of roles that the binding may refer to. */
export function checkRoleBinding(errors: FieldErrors, binding: Binding, roles: readonly string[]): void {
  const { apiGroup, kind, name } = binding.roleRef;
  if (apiGroup !== group) errors.notSupported('roleRef.apiGroup', apiGroup, [group]);
  if (!roles.includes(kind)) errors.notSupported('roleRef.kind', kind, roles);
  if (name === '') errors.required('roleRef.name');
  else errors.invalidFor('roleRef.name', name, pathSegmentProblems(name));
  binding.subjects?.forEach((subject, index) => {
    checkSubject(errors, `subjects[${index}]`, subject, binding.kind === 'RoleBinding');
  });
}

/** Otherwise a user who may update a binding could bind roles that the user may not bind. */
export function checkSameRole(errors: FieldErrors, { roleRef }: Binding, old: Binding): void {
  if (isSameRole(roleRef, old.roleRef)) return;
  const shown = { APIGroup: roleRef.apiGroup, Kind: roleRef.kind, Name: roleRef.name };
  errors.invalid('roleRef', shown, 'cannot change roleRef');
}

export const bindingColumns: readonly TableColumn[] = [
  nameColumn,
  { name: 'Role', type: 'string' },
  ageColumn,
  { name: 'Users', type: 'string', priority: 1 },
  { name: 'Groups', type: 'string', priority: 1 },
  { name: 'ServiceAccounts', type: 'string', priority: 1 },
];

export function bindingRow({ metadata, roleRef, subjects = [] }: Binding, age: string): readonly TableCell[] {
  const named = (kind: string, name: (subject: Subject) => string) =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(name)
      .join(', ');
  return [
    metadata.name ?? '',
    `${roleRef.kind}/${roleRef.name}`,
    age,
    named('User', ({ name }) => name),
    named('Group', ({ name }) => name),
    named('ServiceAccount', accountCell),
  ];
}

/** An account without a namespace is in the namespace of the binding. */
function accountCell({ namespace = '', name }: Subject): string {
  return `${namespace}/${name}`;
}

function isSameRole(a: RoleRef, b: RoleRef): boolean {
  return a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name;
}

function checkSubject(errors: FieldErrors, field: string, subject: Subject, isNamespaced: boolean): void {
  const { kind, name, apiGroup = '', namespace = '' } = subject;
  if (name === '') errors.required(`${field}.name`);
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') errors.invalidFor(`${field}.name`, name, dnsSubdomainProblems(name));
      if (apiGroup !== '') errors.notSupported(`${field}.apiGroup`, apiGroup, ['']);
      if (!isNamespaced && namespace === '') errors.required(`${field}.namespace`);
      return;
    case 'User':
    case 'Group':
      if (apiGroup !== group) errors.notSupported(`${field}.apiGroup`, apiGroup, [group]);
      return;
    default:
      errors.notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group']);
  }
}

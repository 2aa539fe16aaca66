import type { LabelSelector } from '../../../kube/api/stored/meta.ts';
import type { ClusterRole } from '../../../kube/api/stored/rbac.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { pathSegmentProblems } from '../../validation/names.ts';
import { checkLabelSelector } from '../../validation/selectors.ts';
import type { ServedKind } from '../served-kind.ts';
import { nameColumn } from '../table-cells.ts';
import { checkPolicyRules } from './policy-rules.ts';

export const clusterRoleKind: ServedKind<ClusterRole> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  singular: 'clusterrole',
  namespaced: false,
  type: 'rbac.authorization.k8s.io/v1.ClusterRole',
  nameRule: (name) => pathSegmentProblems(name),
  hasStatus: false,
  hasGeneration: false,
  createOnUpdate: true,

  validate(role, errors) {
    checkPolicyRules(errors, role.rules, false);
    checkAggregation(errors, role, false);
  },
  validateUpdate(role, old, errors) {
    checkPolicyRules(errors, role.rules, false);
    // An update may keep values that no label can have.
    const hadInvalid = (old.aggregationRule?.clusterRoleSelectors ?? []).some(
      (selector) => !isValid(selector),
    );
    checkAggregation(errors, role, hadInvalid);
  },

  columns: [nameColumn, { name: 'Created At', type: 'date' }],
  row: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? null],
};

function checkAggregation(
  errors: FieldErrors,
  { aggregationRule }: ClusterRole,
  allowsAnyValue: boolean,
): void {
  if (aggregationRule === undefined) return;
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    errors.required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil');
  }
  selectors.forEach((selector, index) => {
    checkLabelSelector(errors, `${field}[${index}]`, selector, { allowsAnyValue });
    if (!isValid(selector)) errors.invalid(`${field}[${index}]`, null, 'invalid label selector.');
  });
}

function isValid(selector: LabelSelector): boolean {
  const errors = new FieldErrors();
  checkLabelSelector(errors, '', selector);
  return errors.isEmpty;
}

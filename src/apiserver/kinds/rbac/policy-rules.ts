import type { PolicyRule } from '../../../kube/api/stored/rbac.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';

/** `isNamespaced`: true for a Role, which cannot grant access to non-resource URLs. */
export function checkPolicyRules(
  errors: FieldErrors,
  rules: readonly PolicyRule[] | null,
  isNamespaced: boolean,
): void {
  (rules ?? []).forEach((rule, index) => {
    checkRule(errors, `rules[${index}]`, rule, isNamespaced);
  });
}

function checkRule(errors: FieldErrors, field: string, rule: PolicyRule, isNamespaced: boolean): void {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if ((verbs ?? []).length === 0) errors.required(`${field}.verbs`, 'verbs must contain at least one value');
  if (nonResourceURLs.length > 0) {
    const urls = `${field}.nonResourceURLs`;
    if (isNamespaced) {
      errors.invalid(urls, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs');
    }
    if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
      const detail = 'rules cannot apply to both regular resources and non-resource URLs';
      errors.invalid(urls, nonResourceURLs, detail);
    }
    return;
  }
  if (apiGroups.length === 0) {
    errors.required(`${field}.apiGroups`, 'resource rules must supply at least one api group');
  }
  if (resources.length === 0) {
    errors.required(`${field}.resources`, 'resource rules must supply at least one resource');
  }
}

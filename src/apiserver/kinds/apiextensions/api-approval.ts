import type { CustomResourceDefinition } from '../../../kube/api/stored/apiextensions.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';

const annotation = 'api-approved.kubernetes.io';
const field = `metadata.annotations[${annotation}]`;
const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
const missing = `protected groups must have approval annotation "${annotation}", ${see}`;
const unreadable = `protected groups must have approval annotation "${annotation}" with either a URL or a reason starting with "unapproved", ${see}`;

/**
 * Groups of the Kubernetes project need its approval, or a statement that there is none. An update may keep an existing
 * violation.
 */
export function checkApproval(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  errors: FieldErrors,
): void {
  if (!isProtected(definition.spec.group)) return;
  const state = approvalOf(definition);
  if (old !== undefined && approvalOf(old) === state) return;
  if (state === 'missing') errors.required(field, missing);
  if (state === 'unreadable') errors.invalid(field, textOf(definition), unreadable);
}

function isProtected(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`));
}

function approvalOf(
  definition: CustomResourceDefinition,
): 'missing' | 'bypassed' | 'approved' | 'unreadable' {
  const text = textOf(definition);
  if (text === '') return 'missing';
  if (text.startsWith('unapproved')) return 'bypassed';
  return URL.canParse(text) && /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/]/.test(text) ? 'approved' : 'unreadable';
}

function textOf({ metadata }: CustomResourceDefinition): string {
  return metadata.annotations?.[annotation] ?? '';
}

import type {
  Affinity,
  NodeAffinity,
  PodAffinity,
  PodAffinityTerm,
} from '../../../../../kube/api/stored/core.ts';
import type { LabelSelector } from '../../../../../kube/api/stored/meta.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkLabelKey } from '../../../../validation/labels.ts';
import { nameRules } from '../../../../validation/names.ts';
import {
  checkLabelSelector,
  checkNodeSelector,
  checkNodeSelectorTerm,
} from '../../../../validation/selectors.ts';

export function checkAffinity(errors: FieldErrors, field: string, affinity: Affinity | undefined): void {
  if (affinity?.nodeAffinity) checkNodeAffinity(errors, `${field}.nodeAffinity`, affinity.nodeAffinity);
  if (affinity?.podAffinity) checkPodAffinity(errors, `${field}.podAffinity`, affinity.podAffinity);
  if (affinity?.podAntiAffinity) {
    checkPodAffinity(errors, `${field}.podAntiAffinity`, affinity.podAntiAffinity);
  }
}

/**
 * Validates the keys that a term takes from the pod's own labels. `field` is the path of the term or of the spread
 * constraint.
 */
export function checkMatchLabelKeys(
  errors: FieldErrors,
  field: string,
  selector: LabelSelector | undefined,
  keys: { readonly match?: readonly string[]; readonly mismatch?: readonly string[] },
): void {
  const { match = [], mismatch = [] } = keys;
  checkKeys(errors, `${field}.matchLabelKeys`, selector, match);
  checkKeys(errors, `${field}.mismatchLabelKeys`, selector, mismatch);
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}));
  for (const { key } of selector?.matchExpressions ?? []) {
    // The server adds one expression for each key. A second expression with the key comes from the user.
    const index = match.lastIndexOf(key);
    if (index >= 0 && seen.has(key)) {
      errors.invalid(`${field}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector');
    }
    seen.add(key);
  }
  match.forEach((key, index) => {
    if (!mismatch.includes(key)) return;
    const detail = 'exists in both matchLabelKeys and mismatchLabelKeys';
    errors.invalid(`${field}.matchLabelKeys[${index}]`, key, detail);
  });
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

function checkNodeAffinity(errors: FieldErrors, field: string, affinity: NodeAffinity): void {
  const selector = affinity[required];
  if (selector) checkNodeSelector(errors, `${field}.${required}`, selector);
  affinity[preferred]?.forEach(({ weight, preference }, index) => {
    const at = `${field}.${preferred}[${index}]`;
    checkWeight(errors, `${at}.weight`, weight);
    checkNodeSelectorTerm(errors, `${at}.preference`, preference, { allowsAnyValue: true });
  });
}

function checkPodAffinity(errors: FieldErrors, field: string, affinity: PodAffinity): void {
  affinity[required]?.forEach((term, index) => {
    checkTerm(errors, `${field}.${required}[${index}]`, term);
  });
  affinity[preferred]?.forEach(({ weight, podAffinityTerm }, index) => {
    const at = `${field}.${preferred}[${index}]`;
    checkWeight(errors, `${at}.weight`, weight);
    checkTerm(errors, `${at}.podAffinityTerm`, podAffinityTerm);
  });
}

function checkTerm(errors: FieldErrors, at: string, term: PodAffinityTerm): void {
  const { labelSelector, topologyKey, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  checkLabelSelector(errors, `${at}.labelSelector`, labelSelector);
  checkLabelSelector(errors, `${at}.namespaceSelector`, term.namespaceSelector);
  for (const namespace of term.namespaces ?? []) {
    errors.invalidFor(`${at}.namespace`, namespace, nameRules.dnsLabel(namespace, false));
  }
  checkMatchLabelKeys(errors, at, labelSelector, { match: matchLabelKeys, mismatch: mismatchLabelKeys });
  if (topologyKey === '') errors.required(`${at}.topologyKey`, 'can not be empty');
  checkLabelKey(errors, `${at}.topologyKey`, topologyKey);
}

function checkWeight(errors: FieldErrors, field: string, weight: number): void {
  if (weight <= 0 || weight > 100) errors.invalid(field, weight, 'must be in the range 1-100');
}

function checkKeys(
  errors: FieldErrors,
  field: string,
  selector: LabelSelector | undefined,
  keys: readonly string[],
): void {
  if (keys.length === 0) return;
  if (selector === undefined) {
    errors.forbidden(field, 'must not be specified when labelSelector is not set');
    return;
  }
  keys.forEach((key, index) => {
    checkLabelKey(errors, `${field}[${index}]`, key);
  });
}

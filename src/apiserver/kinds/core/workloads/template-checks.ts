import type { LabelSelector as AnySelector } from '../../../../kube/api/meta.ts';
import type { PodTemplateSpec } from '../../../../kube/api/stored/core.ts';
import type { LabelSelector } from '../../../../kube/api/stored/meta.ts';
import {
  type CompiledLabelSelector,
  compileLabelSelector,
  type LabelSelectorResult,
  matchesLabels,
} from '../../../../kube/selectors/label-selector.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { dnsLabelProblems } from '../../../validation/names.ts';
import { checkLabelSelector } from '../../../validation/selectors.ts';
import type { StoredObject } from '../../served-kind.ts';
import { podWarnings } from '../pods/pod-warnings.ts';

/** The selector by itself: there, well-formed, and not for all pods. `word`: as the sentence names the kind. */
export function checkOwnSelector(errors: FieldErrors, selector: LabelSelector | null, word: string): void {
  if (selector === null) {
    errors.required('spec.selector');
    return;
  }
  checkLabelSelector(errors, 'spec.selector', selector);
  if (isEmptySelector(selector)) {
    errors.invalid('spec.selector', selector, `empty selector is invalid for ${word}`);
  }
}

/** Undefined, and `invalidSentence` told, where no selector can be made of it. */
export function compileOwnSelector(
  errors: FieldErrors,
  selector: LabelSelector | null,
  invalidMessage: string,
): CompiledLabelSelector | undefined {
  const result = compileSelector(selector);
  if (result.ok) return result.selector;
  errors.invalid('spec.selector', selector, invalidMessage);
  return undefined;
}

/** An absent selector selects nothing. */
export function compileSelector(selector: LabelSelector | null | undefined): LabelSelectorResult {
  // The compiler takes whatever comes from the wire; only what its type says about absent fields is narrower.
  return compileLabelSelector(selector as AnySelector | null | undefined);
}

/** The pods of a template must be found again by the selector. An empty selector is judged elsewhere. */
export function checkSelectsTemplate(
  errors: FieldErrors,
  selector: CompiledLabelSelector,
  { metadata }: PodTemplateSpec,
): void {
  if (selector.requirements.length > 0 && !matchesLabels(selector, metadata.labels)) {
    errors.invalid('spec.template.metadata.labels', metadata.labels, noMatchMessage);
  }
}

/** Pods of workloads that never finish are restarted always, and have no end. */
export function checkAlwaysRestarts(errors: FieldErrors, { spec }: PodTemplateSpec, kind: string): void {
  if (spec.restartPolicy !== 'Always') {
    errors.notSupported('spec.template.spec.restartPolicy', spec.restartPolicy ?? '', ['Always']);
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.forbidden('spec.template.spec.activeDeadlineSeconds', detail);
  }
}

export function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

export const noMatchMessage = '`selector` does not match template `labels`';

/** Names of workloads may have dots, but host names made of them may not. */
export function nameWarnings(name: string | undefined): readonly string[] {
  const problems = dnsLabelProblems(name ?? '');
  if (problems.length === 0) return [];
  const detail =
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
  return [`${detail}: [${problems.join(' ')}]`];
}

/** Advice about the pods to come, for a new object and for one whose generation moves. */
export function templateWarnings(
  object: StoredObject,
  old: StoredObject | undefined,
  template: PodTemplateSpec | undefined,
  field = 'spec.template',
): readonly string[] {
  const isChanged = object.metadata.generation !== old?.metadata.generation;
  return template && isChanged ? podWarnings(template, `${field}.`) : [];
}

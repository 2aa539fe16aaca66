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

/** The selector must be present, well-formed and not empty. `kindName`: the name of the kind in the message. */
export function checkOwnSelector(
  errors: FieldErrors,
  selector: LabelSelector | null,
  kindName: string,
): void {
  if (selector === null) {
    errors.required('spec.selector');
    return;
  }
  checkLabelSelector(errors, 'spec.selector', selector);
  if (isEmptySelector(selector)) {
    errors.invalid('spec.selector', selector, `empty selector is invalid for ${kindName}`);
  }
}

/** Reports `invalidMessage` and returns undefined if the selector cannot be compiled. */
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
  // The compiler accepts untrusted input; only its type is stricter about absent fields.
  return compileLabelSelector(selector as AnySelector | null | undefined);
}

/** The selector must match the labels of the template. An empty selector is reported elsewhere. */
export function checkSelectsTemplate(
  errors: FieldErrors,
  selector: CompiledLabelSelector,
  { metadata }: PodTemplateSpec,
): void {
  if (selector.requirements.length > 0 && !matchesLabels(selector, metadata.labels)) {
    errors.invalid('spec.template.metadata.labels', metadata.labels, noMatchMessage);
  }
}

/** Pods of workloads that run forever must have restartPolicy Always and no active deadline. */
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

/** Names of workloads may contain dots, but host names made of them may not. */
export function nameWarnings(name: string | undefined): readonly string[] {
  const problems = dnsLabelProblems(name ?? '');
  if (problems.length === 0) return [];
  const detail =
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
  return [`${detail}: [${problems.join(' ')}]`];
}

/** Warnings about the template of a new object, or of one whose generation changes. */
export function templateWarnings(
  object: StoredObject,
  old: StoredObject | undefined,
  template: PodTemplateSpec | undefined,
  field = 'spec.template',
): readonly string[] {
  const isChanged = object.metadata.generation !== old?.metadata.generation;
  return template && isChanged ? podWarnings(template, `${field}.`) : [];
}

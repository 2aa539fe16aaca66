import type { ResourceAttributes } from '../../../kube/api/stored/authorization.ts';
import { parseFieldSelector } from '../../registry/selection/field-selector-text.ts';
import { parseLabelSelector } from '../../registry/selection/label-selector-text.ts';
import { SelectorError } from '../../registry/selection/selector-error.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';

const path = 'spec.resourceAttributes';
const selectorNames = ['fieldSelector', 'labelSelector'] as const;
/** No real request can carry a longer selector. A review could, and parsing megabytes would block the server. */
const rawLengthMax = 64 * 1024;

/** RBAC rules ignore selectors, but a review may contain them, either raw or as requirements. */
export function checkSelectors(requested: ResourceAttributes | undefined, errors: FieldErrors): void {
  for (const name of selectorNames) {
    const selector = requested?.[name];
    if (selector === undefined) continue;
    const { rawSelector = '', requirements = [] } = selector;
    const field = `${path}.${name}`;
    if (rawSelector !== '' && requirements.length > 0) {
      errors.invalid(
        `${field}.rawSelector`,
        rawSelector,
        'may not specified at the same time as requirements',
      );
    }
    if (rawSelector === '' && requirements.length === 0) {
      const detail = `when ${field} is specified, requirements or rawSelector is required`;
      errors.required(`${field}.requirements`, detail);
    }
  }
}

/** Reports selectors of a review that cannot be parsed; the review is answered without them. */
export function selectorProblem(requested: ResourceAttributes | undefined): string {
  const unread = selectorNames.filter((name) => {
    const raw = requested?.[name]?.rawSelector ?? '';
    const read = name === 'fieldSelector' ? parseFieldSelector : parseLabelSelector;
    return raw !== '' && (raw.length > rawLengthMax || !isReadable(() => read(raw)));
  });
  return unread.map((name) => `${path}.${name} ignored due to parse error`).join('; ');
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

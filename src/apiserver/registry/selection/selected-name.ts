import { parseFieldSelector } from './field-selector-text.ts';
import { SelectorError } from './selector-error.ts';

/** The only name that a field selector allows; undefined if it allows several or is invalid. */
export function selectedName(fieldSelector: string): string | undefined {
  try {
    const terms = parseFieldSelector(fieldSelector);
    return terms.find(({ field, isEqual }) => isEqual && field === 'metadata.name')?.value;
  } catch (error) {
    // The error is reported when the selector is used.
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** A field selector for one name, escaped. */
export function nameSelector(name: string): string {
  return `metadata.name=${name.replaceAll(/[\\,=]/g, String.raw`\$&`)}`;
}

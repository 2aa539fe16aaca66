import { parseFieldSelector } from './field-selector-text.ts';
import { SelectorError } from './selector-error.ts';

/** The one object that a selector of fields can be about; undefined where it may be about several, or can't be read. */
export function selectedName(fieldSelector: string): string | undefined {
  try {
    const terms = parseFieldSelector(fieldSelector);
    return terms.find(({ field, isEqual }) => isEqual && field === 'metadata.name')?.value;
  } catch (error) {
    // What is wrong with it is told when it is used.
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** A selector of that one object, whatever its name is made of. */
export function nameSelector(name: string): string {
  return `metadata.name=${name.replaceAll(/[\\,=]/g, String.raw`\$&`)}`;
}

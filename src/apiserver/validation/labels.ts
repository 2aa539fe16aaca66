import { utf8Length } from '../../kube/go/quote.ts';
import type { FieldErrors } from './field-errors.ts';
import { labelValueProblems, qualifiedNameProblems } from './names.ts';

type Texts = Readonly<Record<string, string>>;

const annotationsBytesMax = 256 * 1024;

export function checkLabels(errors: FieldErrors, field: string, labels: Texts | undefined): void {
  if (labels === undefined) return;
  for (const [key, value] of Object.entries(labels)) {
    checkLabelKey(errors, field, key);
    errors.invalidFor(field, value, labelValueProblems(value));
  }
}

export function checkLabelKey(errors: FieldErrors, field: string, key: string): void {
  errors.invalidFor(field, key, qualifiedNameProblems(key));
}

/**
 * Keys follow the rules of label keys, but may have upper case letters in the prefix. Values are free text, up to a
 * total size.
 */
export function checkAnnotations(errors: FieldErrors, field: string, annotations: Texts | undefined): void {
  if (annotations === undefined) return;
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    errors.invalidFor(field, key, qualifiedNameProblems(key.toLowerCase()));
    bytes += utf8Length(key) + utf8Length(value);
  }
  if (bytes > annotationsBytesMax) errors.tooLong(field, annotationsBytesMax);
}

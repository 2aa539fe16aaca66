import type { CustomResourceDefinitionNames } from '../../../kube/api/stored/apiextensions.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { nameRules } from '../../validation/names.ts';

/** The form of names, in a spec and in the accepted names of a status. */
export function checkNameSyntax(
  names: CustomResourceDefinitionNames,
  path: string,
  errors: FieldErrors,
): void {
  const { plural, singular = '', kind, listKind = '' } = names;
  checkLabel(plural, `${path}.plural`, errors);
  checkLabel(singular, `${path}.singular`, errors);
  checkKind(kind, `${path}.kind`, errors);
  checkKind(listKind, `${path}.listKind`, errors);
  checkLabels(names.shortNames, `${path}.shortNames`, errors);
  if (kind !== '' && kind === listKind) {
    errors.invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same');
  }
  checkLabels(names.categories, `${path}.categories`, errors);
}

/** The names that a spec must contain. */
export function checkRequiredNames(
  names: CustomResourceDefinitionNames,
  path: string,
  errors: FieldErrors,
): void {
  const { plural, singular = '', kind, listKind = '' } = names;
  for (const [name, value] of Object.entries({ plural, singular, kind, listKind })) {
    if (value === '') errors.required(`${path}.${name}`);
  }
}

/** All problems of a DNS label, joined to one text. */
export function labelProblem(text: string): string {
  return nameRules.dns1035Label(text, false).join(',');
}

function checkLabel(text: string, path: string, errors: FieldErrors): void {
  const problem = text === '' ? '' : labelProblem(text);
  if (problem !== '') errors.invalid(path, text, problem);
}

function checkKind(text: string, path: string, errors: FieldErrors): void {
  const problem = text === '' ? '' : labelProblem(text.toLowerCase());
  if (problem !== '')
    errors.invalid(path, text, `may have mixed case, but should otherwise match: ${problem}`);
}

function checkLabels(texts: readonly string[] | undefined, path: string, errors: FieldErrors): void {
  for (const [index, text] of (texts ?? []).entries()) {
    const problem = labelProblem(text);
    if (problem !== '') errors.invalid(`${path}[${index}]`, text, problem);
  }
}

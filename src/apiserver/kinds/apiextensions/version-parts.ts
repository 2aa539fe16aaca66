import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
} from '../../../kube/api/stored/apiextensions.ts';
import { formatGoJson, VerbatimJson } from '../../../kube/go/json-text.ts';
import { isPrintable, utf8Length } from '../../../kube/go/quote.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';

/** The deprecation warning that clients of a version get. */
export function checkDeprecation(
  { deprecated, deprecationWarning }: CustomResourceDefinitionVersion,
  path: string,
  errors: FieldErrors,
): void {
  if (deprecationWarning === undefined) return;
  const problems = deprecated
    ? warningProblems(deprecationWarning)
    : ['can only be set for deprecated versions'];
  errors.invalidFor(`${path}.deprecationWarning`, asJson(deprecationWarning), problems);
}

/** Kubernetes prints texts behind a Go pointer as JSON. */
function asJson(text: string): VerbatimJson {
  return new VerbatimJson(formatGoJson(text));
}

function warningProblems(warning: string): readonly string[] {
  const problems: string[] = [];
  if (utf8Length(warning) > 256) problems.push('must be <= 256 characters long');
  if (warning === '') problems.push('must not be an empty string');
  let index = 0;
  for (const rune of warning) {
    if (!isPrintable(rune)) {
      const found = `non-printable character found at index ${index}`;
      return [...problems, `must only contain printable UTF-8 characters; ${found}`];
    }
    index += utf8Length(rune);
  }
  return problems;
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

export function checkColumns(
  columns: readonly CustomResourceColumnDefinition[],
  path: string,
  errors: FieldErrors,
): void {
  for (const [index, column] of columns.entries()) checkColumn(column, `${path}[${index}]`, errors);
}

function checkColumn(
  { name, type, format = '', jsonPath }: CustomResourceColumnDefinition,
  path: string,
  errors: FieldErrors,
): void {
  if (name === '') errors.required(`${path}.name`);
  const types = `must be one of ${columnTypes.join(',')}`;
  if (type === '') errors.required(`${path}.type`, types);
  else if (!columnTypes.includes(type)) errors.invalid(`${path}.type`, type, types);
  if (format !== '' && !columnFormats.includes(format)) {
    errors.invalid(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`);
  }
  if (jsonPath === '') errors.required(`${path}.JSONPath`);
  else checkSimplePath(jsonPath, `${path}.JSONPath`, errors);
}

export function checkSubresources(
  subresources: CustomResourceSubresources | undefined,
  path: string,
  errors: FieldErrors,
): void {
  const scale = subresources?.scale;
  if (scale === undefined) return;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = scale;
  checkScalePath(specReplicasPath, { path: `${path}.scale.specReplicasPath`, below: ['.spec'], errors });
  checkScalePath(statusReplicasPath, {
    path: `${path}.scale.statusReplicasPath`,
    below: ['.status'],
    errors,
  });
  if (labelSelectorPath === '') return;
  const selector = { path: `${path}.scale.labelSelectorPath`, below: ['.spec', '.status'], errors };
  checkScalePath(labelSelectorPath, selector);
}

interface ScalePath {
  readonly path: string;
  /** The top-level fields that the path may start with. */
  readonly below: readonly string[];
  readonly errors: FieldErrors;
}

function checkScalePath(text: string, { path, below, errors }: ScalePath): void {
  if (text === '') {
    errors.required(path);
    return;
  }
  if (!checkSimplePath(text, path, errors)) return;
  if (below.some((part) => text.startsWith(`${part}.`))) return;
  const where = below.length === 1 ? `under ${below[0]}` : `under either ${below.join(' or ')}`;
  errors.invalid(path, text, `should be a json path ${where}`);
}

function checkSimplePath(text: string, path: string, errors: FieldErrors): boolean {
  if (text.startsWith('.')) return true;
  errors.invalid(path, text, 'must be a simple json path starting with .');
  return false;
}

import { badRequest } from '../../../kube/api-error.ts';
import type { Selection } from '../../../kube/api-requests.ts';
import { type CompiledLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { type FieldTerm, parseFieldSelector } from './field-selector-text.ts';
import { parseLabelSelector } from './label-selector-text.ts';
import { SelectorError } from './selector-error.ts';

/** The objects that a request selects, compiled once and evaluated for every object. */
export interface ObjectFilter {
  /** The namespace from the path or the selector. */
  readonly namespace: string | undefined;
  /** The name if the selector allows only one. */
  readonly name: string | undefined;
  /** Undefined if namespace and name suffice. */
  readonly matches: ((object: StoredObject) => boolean) | undefined;
  /** Whether a selector was given; results differ slightly. */
  readonly isSelective: boolean;
}

export function compileFilter(kind: ServedKind, selection: Selection): ObjectFilter {
  const labels = compiledLabels(selection.labelSelector);
  const terms = compiledTerms(kind, selection.fieldSelector);
  const tests = terms.map((term) => testOf(kind, term));
  const requirements = labels?.requirements.length ?? 0;
  const exact = (field: string) => terms.find((term) => term.isEqual && term.field === field)?.value;
  return {
    namespace: selection.namespace ?? exact('metadata.namespace'),
    name: exact('metadata.name'),
    matches: tests.length === 0 && requirements === 0 ? undefined : all(labels, tests),
    isSelective: tests.length > 0 || requirements > 0,
  };
}

type ObjectTest = (object: StoredObject) => boolean;

function all(labels: CompiledLabelSelector | undefined, tests: readonly ObjectTest[]): ObjectTest {
  return (object) => {
    if (labels !== undefined && !matchesLabels(labels, object.metadata.labels)) return false;
    for (const test of tests) if (!test(object)) return false;
    return true;
  };
}

function compiledLabels(text: string | undefined): CompiledLabelSelector | undefined {
  if (text === undefined || text === '') return undefined;
  return withSelectorErrors(() => parseLabelSelector(text));
}

function compiledTerms(kind: ServedKind, text: string | undefined): readonly FieldTerm[] {
  if (text === undefined || text === '') return [];
  const terms = withSelectorErrors(() => parseFieldSelector(text));
  for (const { field } of terms) {
    if (fieldReader(kind, field) === undefined) {
      throw badRequest(unsupportedField(kind, field));
    }
  }
  return terms;
}

/** Kinds with selectable fields of their own report the unknown field; others list the supported ones. */
function unsupportedField(kind: ServedKind, field: string): string {
  return kind.selectableFields === undefined
    ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
    : (kind.unknownFieldMessage?.(field) ?? `field label not supported: ${field}`);
}

function testOf(kind: ServedKind, { field, isEqual, value }: FieldTerm): ObjectTest {
  const read = fieldReader(kind, field);
  return (object) => (read?.(object) === value) === isEqual;
}

function fieldReader(kind: ServedKind, field: string): ((object: StoredObject) => string) | undefined {
  if (field === 'metadata.name') return ({ metadata }) => metadata.name ?? '';
  if (field === 'metadata.namespace') return ({ metadata }) => metadata.namespace ?? '';
  const fields = kind.selectableFields;
  return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
}

function withSelectorErrors<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof SelectorError ? badRequest(error.message) : error;
  }
}

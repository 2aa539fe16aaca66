import type { StatusCause } from '../../kube/api/meta.ts';
import { formatGoJson } from '../../kube/go/json-text.ts';
import { formatGoFloat } from '../../kube/go/numbers.ts';
import { goQuoted } from '../../kube/go/quote.ts';

/** Stands for the value of an error that prints no value. */
export const omitValue: unique symbol = Symbol('the value is not shown');

/**
 * Collects the errors of an object, with the messages of Kubernetes' field errors: users search for these texts and
 * programs match on the reasons. Paths are texts such as `spec.containers[0].image` or `spec.capacity[storage]`.
 */
export class FieldErrors {
  readonly #causes: StatusCause[] = [];
  #count = 0;
  #characters = 0;

  get causes(): readonly StatusCause[] {
    return this.#causes;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Lets a caller see whether a check has added errors: compare the counts before and after. Includes dropped errors. */
  get count(): number {
    return this.#count;
  }

  /** Appends the errors of another collection, sorted if `order` is given. */
  append(others: FieldErrors, order?: (a: StatusCause, b: StatusCause) => number): void {
    for (const cause of order === undefined ? others.causes : others.causes.toSorted(order))
      this.#keep(cause);
  }

  required(field: string, detail = ''): void {
    this.#add('FieldValueRequired', field, 'Required value', detail, omitValue);
  }

  invalid(field: string, value: unknown, detail: string): void {
    this.#add('FieldValueInvalid', field, 'Invalid value', detail, value);
  }

  /** Adds one error for each problem that a rule of `names.ts` returned. */
  invalidFor(field: string, value: unknown, problems: readonly string[]): void {
    for (const problem of problems) this.invalid(field, value, problem);
  }

  typeInvalid(field: string, value: unknown, detail: string): void {
    this.#add('FieldValueTypeInvalid', field, 'Invalid value', detail, value);
  }

  /** `supported` is printed in the given order; Kubernetes sorts values that it keeps in a set. */
  notSupported(field: string, value: unknown, supported: readonly string[]): void {
    const detail = supported.length === 0 ? '' : `supported values: ${supported.map(goQuoted).join(', ')}`;
    this.#add('FieldValueNotSupported', field, 'Unsupported value', detail, value);
  }

  duplicate(field: string, value: unknown, detail = ''): void {
    this.#add('FieldValueDuplicate', field, 'Duplicate value', detail, value);
  }

  notFound(field: string, value: unknown, detail = ''): void {
    this.#add('FieldValueNotFound', field, 'Not found', detail, value);
  }

  forbidden(field: string, detail: string): void {
    this.#add('FieldValueForbidden', field, 'Forbidden', detail, omitValue);
  }

  /** Reports a value of more than `maxBytes` bytes. If that is negative, the message names no limit. */
  tooLong(field: string, maxBytes: number): void {
    const detail = maxBytes >= 0 ? `may not be more than ${counted(maxBytes, 'byte')}` : 'value is too long';
    this.#add('FieldValueTooLong', field, 'Too long', detail, omitValue);
  }

  tooLongCharacters(field: string, maxCharacters: number): void {
    const detail =
      maxCharacters >= 0
        ? `may not be more than ${counted(maxCharacters, 'character')}`
        : 'value is too long';
    this.#add('FieldValueTooLong', field, 'Too long', detail, omitValue);
  }

  tooShort(field: string, minCharacters: number): void {
    const detail =
      minCharacters >= 0 ? `must be at least ${counted(minCharacters, 'character')}` : 'value is too short';
    this.#add('FieldValueTooShort', field, 'Too short', detail, omitValue);
  }

  /** A negative `actual` is not printed. */
  tooMany(field: string, actual: number, max: number): void {
    const detail = max >= 0 ? `must have at most ${counted(max, 'item')}` : 'has too many items';
    this.#add('FieldValueTooMany', field, 'Too many', detail, actual >= 0 ? actual : omitValue);
  }

  tooFew(field: string, actual: number, min: number): void {
    const detail = min >= 0 ? `must have at least ${counted(min, 'item')}` : 'has too few items';
    this.#add('FieldValueTooFew', field, 'Too few', detail, actual);
  }

  internal(field: string, detail: string): void {
    this.#add('InternalError', field, 'Internal error', detail, omitValue);
  }

  /** Appends the errors of a part of the object, which is at `path`; empty for the object itself. */
  appendBelow(path: string, others: FieldErrors): void {
    const before = path === '' ? '' : `${path}.`;
    for (const cause of others.causes) this.#keep({ ...cause, field: before + cause.field });
  }

  #add(reason: string, field: string, what: string, detail: string, value: unknown): void {
    if (this.#characters > charactersMax) {
      this.#count += 1;
      return;
    }
    const found = value === omitValue ? what : `${what}: ${shown(value)}`;
    this.#keep({ reason, message: detail === '' ? found : `${found}: ${detail}`, field });
  }

  #keep(cause: StatusCause): void {
    this.#count += 1;
    if (this.#characters > charactersMax) return;
    this.#characters += (cause.field?.length ?? 0) + (cause.message?.length ?? 0);
    this.#causes.push(cause);
  }
}

/**
 * Further errors are counted and not kept. Each error repeats the path of its field and often a value, so that the errors
 * of a hostile object could be thousands of times as large as the object.
 */
const charactersMax = 4 * 1024 * 1024;

/** Texts in quotes, numbers unchanged, everything else as JSON. */
function shown(value: unknown): string {
  if (typeof value === 'string') return goQuoted(value);
  return typeof value === 'number' && !Number.isSafeInteger(value)
    ? formatGoFloat(value)
    : formatGoJson(value);
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

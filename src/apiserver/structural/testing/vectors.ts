import { readFileSync } from 'node:fs';
import type { StatusCause } from '../../../kube/api/meta.ts';
import type { Json, JsonObject } from '../../../kube/go/json-value.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';
import { FieldErrors } from '../../validation/field-errors.ts';

/** The results of Kubernetes for a value; the README describes the fields. */
export interface SchemaVector {
  readonly schema: JsonSchema;
  readonly value: JsonObject;
  readonly old?: Json;
  readonly dropped?: readonly string[];
  readonly pruned?: Json;
  readonly defaulted?: Json;
  readonly coerced?: Json;
  readonly coerceError?: string;
  readonly coerceUnknown?: readonly string[];
  readonly created?: readonly StatusCause[];
  readonly updated?: readonly StatusCause[];
  readonly lists?: readonly StatusCause[];
  readonly meta?: readonly StatusCause[];
}

export interface FormatVector {
  readonly format: string;
  readonly texts: readonly string[];
  readonly ok: readonly boolean[];
}

export function readVectors(): {
  readonly values: readonly SchemaVector[];
  readonly formats: readonly FormatVector[];
} {
  const lines: readonly (SchemaVector | FormatVector)[] = readFileSync(
    new URL('./vectors.ndjson', import.meta.url),
    'utf8',
  )
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return {
    values: lines.filter((line) => 'schema' in line),
    formats: lines.filter((line) => 'format' in line),
  };
}

/** The errors of a check, in the order of the vectors. */
export function sortedErrors(check: (errors: FieldErrors) => void): readonly StatusCause[] {
  const errors = new FieldErrors();
  check(errors);
  return errors.causes.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

function textOf({ field, reason, message }: StatusCause): string {
  return `${field}\0${reason}\0${message}`;
}

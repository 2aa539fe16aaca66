import { readFileSync } from 'node:fs';
import type { JsonSchema } from '../../schema/json-schema.ts';
import type { ExpressionResult, ExpressionSubject } from './run-expression.ts';

/**
 * Results of Kubernetes' own packages (`apiextensions-apiserver`'s validation of definitions and of objects, and its
 * environment for single expressions), one JSON value per line. `npm run generate -- vectors` computes them again.
 */
function lines<T>(file: string): readonly T[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

export interface ExpressionVector extends ExpressionResult {
  readonly expr: string;
  /** Evaluated with the subject, not with an empty object. */
  readonly self?: boolean;
}

export function expressionVectors(): {
  readonly subject: ExpressionSubject;
  readonly vectors: readonly ExpressionVector[];
} {
  const [subject, ...vectors] = lines<unknown>('expressions.jsonl');
  return { subject: subject as ExpressionSubject, vectors: vectors as readonly ExpressionVector[] };
}

/** Evaluated with a part of an object, like rules of lower levels. */
interface PartVector extends ExpressionResult {
  readonly expr: string;
  readonly subject: ExpressionSubject;
}

export function partVectors(): readonly PartVector[] {
  return lines<PartVector>('parts.jsonl');
}

export interface ObjectVector {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly old?: unknown;
  readonly budget?: number;
  readonly errors: readonly string[];
  readonly remaining: number;
}

export function objectVectors(): readonly ObjectVector[] {
  return lines<ObjectVector>('objects.jsonl');
}

export interface DefinitionVector {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly errors: readonly string[];
}

export function definitionVectors(): readonly DefinitionVector[] {
  return lines<DefinitionVector>('definitions.jsonl');
}

/** Upstream puts the time into the name of a schema's type. */
export function withoutTypeNumber(text: string): string {
  return text.replaceAll(/selfType\d+/g, 'selfType');
}

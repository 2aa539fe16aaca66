import { readFileSync } from 'node:fs';
import type { JsonSchema } from '../../structural/json-schema.ts';
import type { ExpressionResult, ExpressionSubject } from './run-expression.ts';

/**
 * What Kubernetes v1.36.3 says, recorded from its own packages (`apiextensions-apiserver`'s validation of definitions and of
 * objects, and its environment for single expressions), one JSON a line.
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
  /** Over the subject, and not over an empty object. */
  readonly self?: boolean;
}

export function expressionVectors(): {
  readonly subject: ExpressionSubject;
  readonly vectors: readonly ExpressionVector[];
} {
  const [subject, ...vectors] = lines<unknown>('expressions.jsonl');
  return { subject: subject as ExpressionSubject, vectors: vectors as readonly ExpressionVector[] };
}

/** Over a part of an object, as rules of lower levels are. */
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

/** Upstream numbers the name of a schema's type by its clock. */
export function withoutTypeNumber(text: string): string {
  return text.replaceAll(/selfType\d+/g, 'selfType');
}

import { readFileSync } from 'node:fs';
import { parseServerJson } from '../json-reader.ts';

/** Results of Go's own decoders and encoders; written by scripts/generate/api. */

export interface GoldenObject {
  readonly type: string;
  /** Without values, with zeros behind every pointer, or with values in every field. */
  readonly filled: 'nothing' | 'zeros' | 'values';
  /** Base64, including its envelope. */
  readonly protobuf: string;
  readonly json: Record<string, unknown>;
}

export interface GoldenInput {
  readonly type: string;
  /** JSON as a client might send it. */
  readonly input: string;
  readonly output?: unknown;
  readonly strict?: readonly string[];
  readonly error?: string;
}

export const goldenObjects = readLines<GoldenObject>('golden-objects.jsonl');
export const goldenInputs = readLines<GoldenInput>('golden-inputs.jsonl');

function readLines<T>(name: string): readonly T[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => parseServerJson(line) as T);
}

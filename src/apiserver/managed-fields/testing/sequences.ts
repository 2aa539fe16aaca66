import { readFileSync } from 'node:fs';
import type { ManagedFieldsEntry } from '../../../kube/api/stored/meta.ts';
import type { JsonObject } from '../../../kube/go/json-value.ts';
import { shapeOfType } from '../../patch/type-shapes.ts';
import { resetFieldsOf } from '../reset-fields.ts';
import { updateManagedFields } from '../update-managers.ts';

/** Writes to one object, in order, and Kubernetes' managedFields after each. */
export interface Sequence {
  readonly type: string;
  readonly steps: readonly SequenceStep[];
}

export interface SequenceStep {
  readonly manager: string;
  readonly subresource?: string;
  readonly time: string;
  readonly next: JsonObject & { readonly apiVersion: string; readonly metadata: JsonObject };
  readonly expected?: readonly ManagedFieldsEntry[];
}

export function readSequences(name: string): readonly Sequence[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The managedFields of this implementation after each step, starting from the recorded result of the step before. */
export function replay({ type, steps }: Sequence): readonly (readonly ManagedFieldsEntry[] | undefined)[] {
  return steps.map(({ manager, subresource = '', time, next }, i) =>
    updateManagedFields({
      old: i === 0 ? undefined : stored(steps[i - 1]!),
      next,
      shape: shapeOfType(type),
      manager,
      apiVersion: next.apiVersion,
      subresource,
      time,
      resetFields: resetFieldsOf(type, 'status' in next, subresource),
    }),
  );
}

function stored({ next, expected }: SequenceStep): JsonObject {
  const { managedFields: _, ...metadata } = next.metadata;
  const owners = expected === undefined ? {} : { managedFields: expected as unknown as JsonObject[] };
  return { ...next, metadata: { ...metadata, uid: 'u-1', ...owners } };
}

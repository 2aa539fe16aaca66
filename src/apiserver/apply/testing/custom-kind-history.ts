import type { ManagedFieldsEntry } from '../../../kube/api/stored/meta.ts';
import type { Json, JsonObject } from '../../../kube/go/json-value.ts';
import { resetFieldsOf } from '../../managed-fields/reset-fields.ts';
import { typeProblems } from '../../managed-fields/typed-check.ts';
import { updateManagedFields } from '../../managed-fields/update-managers.ts';
import type { VersionView } from '../../managed-fields/versions.ts';
import type { StructShape } from '../../patch/merge-shape.ts';
import { schemaShape } from '../../patch/schema-shapes.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';
import { applyConfiguration } from '../apply-configuration.ts';

/** Writes to one object of a custom kind, by version. */
export interface CustomKindHistory {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly steps: readonly CustomStep[];
}

export interface CustomStep {
  readonly op: 'apply' | 'update';
  readonly manager: string;
  readonly version: string;
  readonly subresource: '' | 'status';
  readonly force: boolean;
  readonly object: JsonObject & { readonly metadata: JsonObject };
}

/** The stored object after a step, or the error message. */
export interface CustomStepResult {
  readonly error?: string;
  readonly object?: JsonObject;
  readonly owners?: readonly ManagedFieldsEntry[];
}

const group = 'x.io';
const kind = 'Thing';
const time = '2026-01-31T12:00:00Z';

/**
 * Replays the writes without a server: objects are merged and get owners, but are not defaulted, validated or pruned.
 */
export function replayHistory({ schemas, steps }: CustomKindHistory): readonly CustomStepResult[] {
  const shapes = new Map(
    Object.entries(schemas).map(([version, schema]) => [`${group}/${version}`, schemaShape(schema, kind)]),
  );
  let live: JsonObject | undefined;
  return steps.map((step) => {
    const result = resultOf(step, shapes, live);
    if (result.object !== undefined) live = withOwners(result.object, result.owners);
    return result;
  });
}

function resultOf(
  step: CustomStep,
  shapes: ReadonlyMap<string, StructShape>,
  live: JsonObject | undefined,
): CustomStepResult {
  const apiVersion = `${group}/${step.version}`;
  const { manager, subresource, op, force, object } = step;
  const isStatus = subresource === 'status';
  const asVersion = (other: string): VersionView | undefined => {
    const shape = shapes.get(other);
    const resetFields = isStatus ? resetFieldsOf('', true, subresource) : undefined;
    return shape === undefined ? undefined : { shape, resetFields };
  };
  const write = {
    shape: shapes.get(apiVersion)!,
    manager,
    apiVersion,
    subresource,
    time,
    asVersion,
    resetFields: resetFieldsOf('', true, subresource),
  };
  const versioned = live === undefined ? undefined : { ...live, apiVersion };
  if (op === 'update') {
    const owned = {
      ...object,
      metadata: { ...object.metadata, ...(live === undefined ? {} : { uid: 'u' }) },
    };
    const owners = updateManagedFields({ ...write, old: versioned, next: owned });
    return storedResult({ ...owned, metadata: { ...owned.metadata, uid: 'u' } }, owners);
  }
  try {
    const liveProblems = typeProblems(versioned ?? {}, write.shape, { allowsDuplicates: true });
    const problems = typeProblems(object, write.shape) ?? liveProblems;
    if (problems !== undefined) throw new Error(problems);
    const before = versioned ?? { apiVersion, kind };
    const applied = applyConfiguration({ ...write, live: before, config: object, force });
    return storedResult(applied.object ?? before, applied.owners);
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function storedResult(
  object: JsonObject,
  owners: readonly ManagedFieldsEntry[] | undefined,
): CustomStepResult {
  const { managedFields: _, ...metadata } = (object.metadata ?? {}) as JsonObject;
  const whole = { ...object, metadata: { ...metadata, uid: 'u' } };
  return owners === undefined ? { object: whole } : { object: whole, owners };
}

function withOwners(object: JsonObject, owners: readonly ManagedFieldsEntry[] | undefined): JsonObject {
  if (owners === undefined) return object;
  return {
    ...object,
    metadata: { ...(object.metadata as JsonObject), managedFields: owners as unknown as Json },
  };
}

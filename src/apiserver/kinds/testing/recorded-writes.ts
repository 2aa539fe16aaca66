import type { StatusCause } from '../../../kube/api/meta.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import { nextInt64 } from '../../../kube/go/int64.ts';
import { normalize } from '../../schema/normalize.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { checkObjectMeta, checkObjectMetaUpdate } from '../../validation/object-meta.ts';
import type { Moment, ServedKind, StoredObject } from '../served-kind.ts';

/** A write and what kube-apiserver answered. README.md describes the fields. */
export interface RecordedWrite {
  readonly name: string;
  readonly does: 'create' | 'update' | 'status';
  readonly old?: StoredObject;
  readonly object: StoredObject;
  readonly stored?: StoredObject;
  readonly causes?: readonly StatusCause[];
  readonly warnings?: readonly string[];
}

/** The answer to a write: the stored object, or the causes of a refusal. */
export interface WriteAnswer {
  readonly stored?: unknown;
  readonly causes?: readonly StatusCause[];
  readonly warnings?: readonly string[];
}

/** The recorded answer in the form that `replayWrite` returns. Objects are normalized: the order of fields does not matter. */
export function recordedAnswer(kind: ServedKind, { stored, causes, warnings }: RecordedWrite): WriteAnswer {
  return {
    ...(stored && { stored: withoutServerFields(normalize(kind.type, stored).object) }),
    ...(causes && { causes }),
    ...(warnings && { warnings }),
  };
}

/** Answers the write with our kind: runs the steps of the registry that the kind determines. */
export function replayWrite(kind: ServedKind, write: RecordedWrite): WriteAnswer {
  const errors = new FieldErrors();
  const object = readObject(kind, write.object);
  const old = write.old && readObject(kind, write.old);
  if (old) change(kind, write.does, { object, old, errors });
  else create(kind, { object, errors });
  if (!errors.isEmpty) return { causes: errors.causes.map(shortened) };
  const warnings = write.does === 'status' ? [] : (kind.warnings?.(object, old) ?? []);
  return {
    stored: withoutServerFields(normalize(kind.type, object).object),
    ...(warnings.length > 0 && { warnings }),
  };
}

export function readObject(kind: ServedKind, object: object): StoredObject {
  return normalize(kind.type, object).object as unknown as StoredObject;
}

/** The uid of every object in the recordings: labels and selectors of Jobs contain it. */
const uid = '5f0e1f86-0b1c-4a9e-9d55-7a0c6f1d2e3b';

const moment: Moment = { nowMs: Date.UTC(2026, 0, 2, 3, 4, 5) };

interface WriteAttempt {
  readonly object: StoredObject;
  readonly errors: FieldErrors;
}

function create(kind: ServedKind, { object, errors }: WriteAttempt): void {
  if (kind.namespaced) object.metadata.namespace ??= 'default';
  object.metadata.uid = uid;
  kind.defaults?.(object);
  if (kind.hasGeneration) object.metadata.generation = 1;
  kind.prepareCreate?.(object, moment);
  kind.allocate?.(object, [], errors);
  if (!errors.isEmpty) return;
  checkObjectMeta(errors, object.metadata, kind);
  kind.validate(object, errors);
}

function change(
  kind: ServedKind,
  does: RecordedWrite['does'],
  { object, old, errors }: WriteAttempt & { readonly old: StoredObject },
): void {
  object.metadata.resourceVersion = '1';
  kind.defaults?.(object);
  if (does === 'status') {
    if (kind.prepareStatus) kind.prepareStatus(object, old, moment);
    else restoreAllButStatus(object, old);
  } else {
    kind.prepareUpdate?.(object, old, moment);
    kind.allocate?.(object, [], errors);
    if (!errors.isEmpty) return;
    if (kind.hasGeneration && incrementsGeneration(kind, object, old)) {
      object.metadata.generation = nextInt64(old.metadata.generation ?? 0);
    }
  }
  checkObjectMetaUpdate(errors, object.metadata, old.metadata);
  if (does === 'status') kind.validateStatus?.(object, old, errors);
  else if (kind.validateUpdate) kind.validateUpdate(object, old, errors);
  else kind.validate(object, errors);
}

function restoreAllButStatus(object: StoredObject, old: StoredObject): void {
  const { metadata, status } = object as StoredObject & { status?: unknown };
  Object.assign(object, structuredClone(old), { metadata, status });
}

function incrementsGeneration(kind: ServedKind, object: StoredObject, old: StoredObject): boolean {
  if (kind.incrementsGeneration) return kind.incrementsGeneration(object, old);
  const rest = (one: StoredObject) => ({ ...one, metadata: undefined, status: undefined });
  return !isSemanticallyEqual(rest(object), rest(old));
}

/** Removes what differs from run to run. */
function withoutServerFields(object: unknown): unknown {
  const copy = structuredClone(object) as StoredObject & { status?: { lastPhaseTransitionTime?: string } };
  const { metadata } = copy;
  delete metadata.uid;
  delete metadata.resourceVersion;
  delete metadata.creationTimestamp;
  delete copy.status?.lastPhaseTransitionTime;
  return copy;
}

/** The recordings shorten long objects in messages: Kubernetes prints Go structs there. */
function shortened(cause: StatusCause): StatusCause {
  const message = cause.message?.replace(/^Invalid value: \{.{150,}\}: field is immutable$/s, shortMessage);
  return { ...cause, ...(message !== undefined && { message }) };
}

const shortMessage = 'Invalid value: {...}: field is immutable';

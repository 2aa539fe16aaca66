import { readFileSync } from 'node:fs';
import type { StatusCause } from '../../../../kube/api/status.ts';
import { normalize } from '../../../schema/normalize.ts';
import { deepEqual } from '../../../validation/deep-equal.ts';
import { FieldErrors } from '../../../validation/field-errors.ts';
import { checkObjectMeta, checkObjectMetaUpdate } from '../../../validation/object-meta.ts';
import type { Kind, Moment, StoredObject } from '../../kind.ts';

/** What a real server answered to a write. */
export interface RecordedWrite {
  readonly name: string;
  readonly does: 'create' | 'update' | 'status';
  readonly old?: StoredObject;
  readonly object: StoredObject;
  readonly stored?: StoredObject;
  readonly causes?: readonly StatusCause[];
  readonly warnings?: readonly string[];
}

/** What our kinds make of the same write: the part of the registry that they have a say in. */
export interface Replayed {
  readonly stored?: unknown;
  readonly causes?: readonly StatusCause[];
  readonly warnings?: readonly string[];
}

export function readRecorded(file: URL): readonly RecordedWrite[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as RecordedWrite);
}

/** The answer in the form of `replay`. Objects are compared in their normal form: the order of fields says nothing. */
export function answerOf(kind: Kind, { stored, causes, warnings }: RecordedWrite): Replayed {
  return {
    ...(stored && { stored: normalize(kind.type, stored).object }),
    ...(causes && { causes }),
    ...(warnings && { warnings }),
  };
}

/** What the registry does between preparing and validating, where the kind needs it. */
export type Admission = (object: StoredObject, errors: FieldErrors) => void;

export function replay(kind: Kind, write: RecordedWrite, admit: Admission = () => {}): Replayed {
  const errors = new FieldErrors();
  const object = read(kind, write.object);
  const old = write.old && read(kind, write.old);
  const stored = old
    ? change(kind, write, { object, old, errors, admit })
    : create(kind, { object, errors, admit });
  if (!errors.isEmpty) return { causes: errors.causes.map(shortened) };
  const warnings = write.does === 'status' ? [] : (kind.warnings?.(stored, old) ?? []);
  delete stored.metadata.resourceVersion;
  return {
    stored: normalize(kind.type, stored).object,
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Of every object in the recordings. */
const uid = '5f0e1f86-0b1c-4a9e-9d55-7a0c6f1d2e3b';

const moment: Moment = { nowMs: Date.UTC(2026, 0, 2, 3, 4, 5) };

function read(kind: Kind, object: StoredObject): StoredObject {
  return normalize(kind.type, object).object as unknown as StoredObject;
}

interface Attempt {
  readonly object: StoredObject;
  readonly errors: FieldErrors;
  readonly admit: Admission;
}

function create(kind: Kind, { object, errors, admit }: Attempt): StoredObject {
  if (kind.namespaced) object.metadata.namespace ??= 'default';
  object.metadata.uid = uid;
  kind.defaults?.(object);
  if (kind.hasGeneration) object.metadata.generation = 1;
  kind.prepareCreate?.(object, moment);
  admit(object, errors);
  if (!errors.isEmpty) return object;
  checkObjectMeta(errors, object.metadata, kind);
  kind.validate(object, errors);
  return object;
}

function change(
  kind: Kind,
  { does }: RecordedWrite,
  { object, old, errors, admit }: Attempt & { readonly old: StoredObject },
): StoredObject {
  object.metadata.resourceVersion = '1';
  kind.defaults?.(object);
  if (does === 'status') {
    if (kind.prepareStatus) kind.prepareStatus(object, old, moment);
    else restoreAllButStatus(object, old);
  } else {
    kind.prepareUpdate?.(object, old, moment);
    admit(object, errors);
    if (!errors.isEmpty) return object;
    if (kind.hasGeneration && moves(kind, object, old)) {
      object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    }
  }
  checkObjectMetaUpdate(errors, object.metadata, old.metadata);
  if (does === 'status') kind.validateStatus?.(object, old, errors);
  else if (kind.validateUpdate) kind.validateUpdate(object, old, errors);
  else kind.validate(object, errors);
  return object;
}

function restoreAllButStatus(object: StoredObject, old: StoredObject): void {
  const { metadata, status } = object as StoredObject & { status?: unknown };
  Object.assign(object, structuredClone(old), { metadata, status });
}

function moves(kind: Kind, object: StoredObject, old: StoredObject): boolean {
  if (kind.movesGeneration) return kind.movesGeneration(object, old);
  const rest = (one: StoredObject) => ({ ...one, metadata: undefined, status: undefined });
  return !deepEqual(rest(object), rest(old));
}

/** Long objects in messages are cut in the recordings: Kubernetes shows them in a form of its own. */
function shortened(cause: StatusCause): StatusCause {
  const message = cause.message?.replace(/^Invalid value: \{.{150,}\}: field is immutable$/s, shortMessage);
  return { ...cause, ...(message !== undefined && { message }) };
}

const shortMessage = 'Invalid value: {...}: field is immutable';

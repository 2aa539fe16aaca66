import { readFileSync } from 'node:fs';
import type { StatusCause } from '../../../../kube/api/status.ts';
import { normalize } from '../../../schema/normalize.ts';
import { deepEqual } from '../../../validation/deep-equal.ts';
import { FieldErrors } from '../../../validation/field-errors.ts';
import { checkObjectMeta } from '../../../validation/object-meta.ts';
import type { Kind, StoredObject, TableCell } from '../../kind.ts';
import { podKinds } from '../index.ts';

/** What a real server answered to a write; the README beside this file says how it was asked. */
export interface RecordedWrite extends Answer {
  readonly name: string;
  readonly does: 'create' | 'update' | 'status';
  readonly old?: StoredObject;
  readonly object: StoredObject;
}

export interface Answer {
  readonly stored?: object;
  readonly causes?: readonly StatusCause[];
  readonly warnings?: readonly string[];
}

/** An object and its row of a table, made at `nowMs`. */
export interface RecordedRow {
  readonly name: string;
  readonly object: StoredObject;
  readonly nowMs: number;
  readonly columns: Kind['columns'];
  readonly cells: readonly TableCell[];
}

export function recordedWrites(file: string): readonly RecordedWrite[] {
  return linesOf(file).map((line) => JSON.parse(line) as RecordedWrite);
}

export function recordedRows(): readonly RecordedRow[] {
  return linesOf('./rows.ndjson').map((line) => JSON.parse(line) as RecordedRow);
}

/** The answer in the form of `replay`: which of several causes comes first is up to Go's maps. */
export function answerOf({ object, stored, causes, warnings }: RecordedWrite): Answer {
  if (causes) return { causes: inOrder(causes) };
  return { stored: normalize(kindOf(object).type, stored).object, ...(warnings && { warnings }) };
}

/** What our kinds make of the same write: defaults, preparation and rules, as the registry calls them. */
export function replay(write: RecordedWrite): Answer {
  const kind = kindOf(write.object);
  const object = read(kind, write.object);
  const old = write.old && read(kind, write.old);
  const errors = new FieldErrors();
  kind.defaults?.(object);
  if (old === undefined) create(kind, object, errors);
  else change(kind, write.does, [object, old], errors);
  if (!errors.isEmpty) return { causes: inOrder(errors.causes) };
  const warnings = write.does === 'status' ? [] : (kind.warnings?.(object, old) ?? []);
  return {
    stored: normalize(kind.type, object).object,
    ...(warnings.length > 0 && { warnings }),
  };
}

export function kindOf({ kind }: StoredObject): Kind {
  const found = podKinds.find((candidate) => candidate.kind === kind);
  if (found === undefined) throw new Error(`${kind} is not among the kinds of pods`);
  return found;
}

export function read(kind: Kind, object: object): StoredObject {
  return normalize(kind.type, object).object as unknown as StoredObject;
}

function linesOf(file: string): readonly string[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return text.split('\n').filter((line) => line !== '');
}

const moment = { nowMs: 0 };

function create(kind: Kind, object: StoredObject, errors: FieldErrors): void {
  if (kind.namespaced) object.metadata.namespace = 'default';
  if (kind.hasGeneration) object.metadata.generation = 1;
  kind.prepareCreate?.(object, moment);
  checkObjectMeta(errors, object.metadata, kind);
  kind.validate(object, errors);
}

function change(
  kind: Kind,
  does: RecordedWrite['does'],
  [object, old]: readonly [StoredObject, StoredObject],
  errors: FieldErrors,
): void {
  if (does === 'status') {
    kind.prepareStatus?.(object, old, moment);
    kind.validateStatus?.(object, old, errors);
    return;
  }
  kind.prepareUpdate?.(object, old, moment);
  if (kind.hasGeneration && moves(kind, object, old)) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  if (kind.validateUpdate) kind.validateUpdate(object, old, errors);
  else kind.validate(object, errors);
}

function moves(kind: Kind, object: StoredObject, old: StoredObject): boolean {
  if (kind.movesGeneration) return kind.movesGeneration(object, old);
  return !deepEqual({ ...object, metadata: undefined }, { ...old, metadata: undefined });
}

function inOrder(causes: readonly StatusCause[]): readonly StatusCause[] {
  const texts = causes.map(({ field, message, reason }) => JSON.stringify({ field, message, reason }));
  return [...new Set(texts)].sort().map((text) => JSON.parse(text) as StatusCause);
}

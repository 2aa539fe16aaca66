import { isEqualJson } from '../../kube/deep-equal.ts';
import { jsonText } from '../../kube/go/json-text.ts';
import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  jsonKindName,
  ownValue,
  setKey,
} from '../../kube/go/json-value.ts';
import { parseServerJson } from '../schema/json-reader.ts';
import { checkPatchDepth } from './patch-depth.ts';
import { inapplicablePatch, malformedPatch, oversizedPatch } from './patch-error.ts';

const operationsMax = 10_000;
/** The limit for the total size of all copies of one patch. */
const copiedBytesMax = 3 * 1024 * 1024;

/**
 * Applies a JSON patch (RFC 6902) as kube-apiserver does, which is laxer than the standard: `replace` adds a missing
 * field, negative indexes count from the end, `add` and `copy` without a value write null, and the text before the
 * first slash of a path is ignored. Returns a new object; neither argument changes.
 */
export function applyJsonPatch(original: JsonObject, patch: unknown): JsonObject {
  const operations = readOperations(patch);
  const document: Document = { root: original, fresh: new WeakSet(), copiedBytes: 0 };
  for (const operation of operations) apply(document, operation);
  if (!isJsonObject(document.root)) throw inapplicablePatch();
  return document.root;
}

/**
 * The warnings of strict decoding about unknown fields, with Kubernetes' messages. The JSON reader reports duplicate
 * keys.
 */
export function unknownJsonPatchFields(patch: unknown): readonly string[] {
  if (!Array.isArray(patch)) return [];
  return patch.flatMap((operation: unknown, i) =>
    isJsonObject(operation)
      ? Object.keys(operation)
          .filter((name) => !operationFields.includes(name))
          .map((name) => `json patch unknown field "[${i}].${name}"`)
      : [],
  );
}

const operationFields: readonly string[] = ['op', 'path', 'from', 'value'];

interface Document {
  root: Json;
  /**
   * Containers that this patch created and that are referenced only once: the patch may change them in place. It copies
   * all others first.
   */
  readonly fresh: WeakSet<object>;
  copiedBytes: number;
}

function readOperations(patch: unknown): readonly (JsonObject | null)[] {
  checkPatchDepth(patch);
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw undecodable(patch, 'Go value of type []handlers.jsonPatchOp');
  for (const operation of patch as readonly unknown[]) {
    if (operation === null) continue;
    if (!isJsonObject(operation)) throw undecodable(operation, 'Go value of type handlers.jsonPatchOp');
    for (const name of ['op', 'path', 'from']) {
      const text = ownValue(operation, name);
      if (text === undefined || text === null || typeof text === 'string') continue;
      throw undecodable(text, `Go struct field jsonPatchOp.${name} of type string`);
    }
  }
  if (patch.length > operationsMax) {
    throw oversizedPatch(
      `The allowed maximum operations in a JSON patch is ${operationsMax}, got ${patch.length}`,
    );
  }
  return patch;
}

function undecodable(value: unknown, target: string): Error {
  return malformedPatch(`error decoding patch: json: cannot unmarshal ${jsonKindName(value)} into ${target}`);
}

function apply(document: Document, operation: JsonObject | null): void {
  const path = textOf(operation, 'path');
  const value = operation === null ? undefined : ownValue(operation, 'value');
  const from = textOf(operation, 'from');
  const what = textOf(operation, 'op');
  if (what === 'add') add(document, path, value ?? null);
  else if (what === 'remove') remove(document, path);
  else if (what === 'replace') replace(document, path, value);
  else if (what === 'move') move(document, from, path);
  else if (what === 'copy') copy(document, from, path);
  else if (what === 'test') test(document, path, value);
  else throw inapplicablePatch();
}

function textOf(operation: JsonObject | null, name: string): string | undefined {
  const text = operation === null ? undefined : ownValue(operation, name);
  return typeof text === 'string' ? text : undefined;
}

function add(document: Document, path: string | undefined, value: Json): void {
  const { container, key } = openForWriting(document, path);
  if (!Array.isArray(container)) setKey(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(indexOf(key, container.length + 1), 0, value);
}

function remove(document: Document, path: string | undefined): void {
  const { container, key } = openForWriting(document, path);
  if (Array.isArray(container)) container.splice(indexOf(key, container.length), 1);
  else if (Object.hasOwn(container, key) && container[key] !== undefined) delete container[key];
  else throw inapplicablePatch();
}

function replace(document: Document, path: string | undefined, value: Json | undefined): void {
  if (path === '') {
    if (!isJsonObject(value) && !isJsonArray(value)) throw inapplicablePatch();
    document.root = value;
    return;
  }
  const { container, key } = openForWriting(document, path);
  if (Array.isArray(container)) container[indexOf(key, container.length)] = value ?? null;
  else setKey(container, key, value ?? null);
}

function move(document: Document, from: string | undefined, path: string | undefined): void {
  const value = read(document, from);
  remove(document, from);
  add(document, path, value ?? null);
}

function copy(document: Document, from: string | undefined, path: string | undefined): void {
  const text = jsonText(read(document, from) ?? null);
  document.copiedBytes += text.length;
  if (document.copiedBytes > copiedBytesMax) throw inapplicablePatch();
  add(document, path, parseServerJson(text) as Json);
}

function test(document: Document, path: string | undefined, value: Json | undefined): void {
  const found = path === '' ? document.root : read(document, path);
  if (!isEqualJson(found ?? null, value ?? null)) throw inapplicablePatch();
}

/** The value at a path; undefined for a missing field. A missing list element, or a missing parent, is an error. */
function read(document: Document, path: string | undefined): Json | undefined {
  let value: Json | undefined = document.root;
  for (const key of keysOf(path)) value = step(value, key);
  return value;
}

function step(container: Json | undefined, key: string): Json | undefined {
  if (isJsonArray(container)) return container[indexOf(key, container.length)];
  if (isJsonObject(container)) return ownValue(container, key);
  throw inapplicablePatch();
}

/** Makes the container that a path ends in, and all its parents, safe to change in place. */
function openForWriting(
  document: Document,
  path: string | undefined,
): { container: JsonDraft | Json[]; key: string } {
  const keys = keysOf(path);
  let container = asFresh(document, document.root);
  document.root = container;
  for (const key of keys.slice(0, -1)) {
    const inner = asFresh(document, step(container, key));
    if (Array.isArray(container)) container[indexOf(key, container.length)] = inner;
    else setKey(container, key, inner);
    container = inner;
  }
  return { container, key: keys.at(-1)! };
}

function asFresh(document: Document, value: Json | undefined): JsonDraft | Json[] {
  if (!isJsonArray(value) && !isJsonObject(value)) throw inapplicablePatch();
  if (document.fresh.has(value)) return value as JsonDraft | Json[];
  const container = isJsonArray(value) ? [...value] : { ...value };
  document.fresh.add(container);
  return container;
}

function keysOf(path: string | undefined): readonly string[] {
  const keys = path?.split('/').slice(1);
  if (keys === undefined || keys.length === 0) throw inapplicablePatch();
  return keys.map((key) => key.replace(/~[01]/g, (escaped) => (escaped === '~1' ? '/' : '~')));
}

function indexOf(key: string, length: number): number {
  if (!/^[+-]?\d{1,15}$/.test(key)) throw inapplicablePatch();
  const index = Number(key);
  const fromStart = index < 0 ? index + length : index;
  if (fromStart < 0 || fromStart >= length) throw inapplicablePatch();
  return fromStart;
}

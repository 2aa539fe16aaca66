import { formatGoJson } from '../../kube/go/json-text.ts';
import { isJsonObject, type JsonObject, ownValue } from '../../kube/go/json-value.ts';
import { utf8Length } from '../../kube/go/quote.ts';
import { withSortedKeysDeep } from '../../kube/sorted-keys.ts';
import { difference, type FieldSet, leaf } from '../managed-fields/field-set.ts';
import { typeProblems } from '../managed-fields/typed-check.ts';
import { compareTyped, UntypableError } from '../managed-fields/typed-compare.ts';
import type { StructShape } from '../patch/merge-shape.ts';
import { readJson } from '../schema/json-reader.ts';
import { appliedFields } from './applied-fields.ts';

/** The annotation in which client-side apply stores the applied configuration. */
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
/** The limit for the names and values of all annotations of an object. */
const annotationsMaxBytes = 256 * 1024;

/**
 * The fields that client-side apply set and that did not change since; undefined if the object has no such annotation.
 */
export function lastAppliedFields(
  live: JsonObject,
  shape: StructShape,
  apiVersion: string,
): FieldSet | undefined {
  const last = parsed(annotationOf(live));
  if (last === undefined || last.apiVersion !== apiVersion || last.kind !== live.kind) return undefined;
  if (typeProblems(last, shape) !== undefined) return undefined;
  try {
    const { added = leaf, modified = leaf, removed = leaf } = compareTyped(last, live, shape) ?? {};
    return [modified, added, removed].reduce(difference, appliedFields(last, shape));
  } catch (error) {
    if (error instanceof UntypableError) return undefined;
    throw error;
  }
}

/**
 * The annotations of an object to which kubectl applied, with its configuration in the annotation of client-side apply
 * if the object has that annotation: a user who returns to client-side apply finds it up to date. Undefined if the
 * annotation need not change.
 */
export function withLastApplied(
  object: JsonObject,
  config: JsonObject,
): Readonly<Record<string, string>> | undefined {
  if (annotationOf(object) === '') return undefined;
  const { [annotation]: _, ...others } = annotationsOf(object) as Readonly<Record<string, string>>;
  const updated = {
    ...others,
    [annotation]: `${formatGoJson(withSortedKeysDeep(withoutLastApplied(config)))}\n`,
  };
  const bytes = Object.entries(updated).reduce(
    (sum, [key, text]) => sum + utf8Length(key) + utf8Length(text),
    0,
  );
  return bytes > annotationsMaxBytes ? others : updated;
}

function annotationsOf({ metadata }: JsonObject): JsonObject {
  const annotations = isJsonObject(metadata) ? metadata.annotations : undefined;
  return isJsonObject(annotations) ? annotations : {};
}

function annotationOf(object: JsonObject): string {
  const text = ownValue(annotationsOf(object), annotation);
  return typeof text === 'string' ? text : '';
}

function parsed(text: string): JsonObject | undefined {
  try {
    const { value } = readJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function withoutLastApplied(config: JsonObject): JsonObject {
  if (!isJsonObject(config.metadata) || !isJsonObject(config.metadata.annotations)) return config;
  const { [annotation]: _, ...annotations } = config.metadata.annotations;
  return { ...config, metadata: { ...config.metadata, annotations } };
}

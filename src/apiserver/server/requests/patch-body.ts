import { readYaml, YamlSyntaxError } from '../../../io/yaml/yaml-reader.ts';
import { type ApiError, badRequest, failure, invalid } from '../../../kube/api-error.ts';
import { formatGoJson, jsonText } from '../../../kube/go/json-text.ts';
import { jsonKindName } from '../../../kube/go/json-value.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import type { PatchType } from '../../registry/registry.ts';
import { JsonSyntaxError, readJson } from '../../schema/json-reader.ts';
import { duplicateFields } from '../../schema/strict-decoding.ts';
import type { FieldValidation } from './write-options.ts';

const types: ReadonlyMap<string, PatchType> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
]);

/** Determines the patch type by the media type; parameters such as a charset are ignored. */
export function patchTypeOfRequest(
  contentType: string | undefined,
  { definition }: Pick<ServedKind, 'definition'>,
): PatchType {
  const media = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const type = types.get(media);
  // Custom resources define no strategic merge of their lists.
  if (definition !== undefined && (type === undefined || type === 'strategic'))
    throw unsupportedPatchOfCustomResource();
  if (type === undefined) throw failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  return type;
}

function unsupportedPatchOfCustomResource(): ApiError {
  const accepted = [...types].filter(([, type]) => type !== 'strategic').map(([media]) => media);
  const hint = `accepted media types include: ${accepted.join(', ')}`;
  return failure(415, 'UnsupportedMediaType', `the body of the request was in an unknown format - ${hint}`);
}

export interface ParsedPatch {
  readonly body: unknown;
  /** Duplicate keys of an apply configuration, with their lines. Those of other patches are reported while parsing. */
  readonly duplicateFields: readonly string[];
}

export interface PatchParseOptions {
  readonly type: PatchType;
  readonly fieldValidation: FieldValidation;
  warn(text: string): void;
}

/** Parses a patch into a plain value. It is not normalized to the object's type, because its directives and nulls carry meaning. */
export function parsePatch(bytes: Buffer, options: PatchParseOptions): ParsedPatch {
  if (options.type === 'apply') return parseApplyConfiguration(bytes);
  return { body: parseJsonPatchBody(bytes, options), duplicateFields: [] };
}

function parseJsonPatchBody(bytes: Buffer, { type, fieldValidation, warn }: PatchParseOptions): unknown {
  const { value, duplicates } = readPatchJson(bytes, type);
  if (duplicates.length > 0 && fieldValidation !== 'Ignore') {
    const fieldErrors = duplicateFields(duplicates);
    if (fieldValidation === 'Strict') throw duplicateFieldsError(value, fieldErrors);
    for (const text of fieldErrors) warn(text);
  }
  // Go decodes null as an empty map; a strategic patch then changes nothing, a merge patch is refused.
  if (value === null && type === 'strategic') return {};
  if (value === null && type === 'merge') throw badRequest('Invalid JSON Patch');
  const isOfShape = type === 'json' ? Array.isArray(value) : isObject(value);
  if (!isOfShape) throw decodingError(unmarshalError(value, type), type);
  return value;
}

function readPatchJson(bytes: Buffer, type: PatchType) {
  try {
    return readJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw decodingError(error.message, type);
  }
}

function decodingError(why: string, type: PatchType): ApiError {
  return badRequest(type === 'strategic' ? why : `error decoding patch: ${why}`);
}

/** Most clients send JSON, which is also YAML and much faster to parse. Only YAML reports lines. */
function parseApplyConfiguration(bytes: Buffer): ParsedPatch {
  try {
    const { value, duplicates } = readJson(bytes);
    if (duplicates.length === 0) return { body: objectOf(value), duplicateFields: [] };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  try {
    const { value, duplicates } = readYaml(bytes.toString('utf8'));
    return { body: objectOf(value), duplicateFields: duplicates };
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}

function objectOf(value: unknown): unknown {
  // An empty body is an empty object; the missing kind and apiVersion are reported later.
  if (value === null || value === undefined) return {};
  if (isObject(value)) return value;
  const problem = unmarshalError(value, 'apply');
  throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${problem}`);
}

function duplicateFieldsError(value: unknown, fieldErrors: readonly string[]): ApiError {
  const message = `Invalid value: ${formatGoJson(jsonText(value))}: strict decoding error: ${fieldErrors.join(', ')}`;
  return invalid({ group: '', kind: '' }, '', [{ reason: 'FieldValueInvalid', message, field: 'patch' }]);
}

function unmarshalError(value: unknown, type: PatchType): string {
  const expected = type === 'json' ? '[]handlers.jsonPatchOp' : 'map[string]interface {}';
  return `json: cannot unmarshal ${jsonKindName(value)} into Go value of type ${expected}`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

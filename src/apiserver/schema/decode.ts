import { readYaml, YamlSyntaxError } from '../../io/yaml/yaml-reader.ts';
import { ApiError, badRequest, failure } from '../../kube/api-error.ts';
import { isJsonObject, jsonKindName } from '../../kube/go/json-value.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import {
  type ExpectedType,
  type GroupVersionKind,
  kindMismatch,
  parseApiVersion,
  versionMismatch,
  withDefaults,
} from './group-version-kind.ts';
import { type JsonDocument, JsonSyntaxError, noOrder, readJson } from './json-reader.ts';
import { formOf } from './object-form.ts';
import { readEnvelope, readMessage } from './protobuf.ts';
import { strictDecodingProblems } from './strict-decoding.ts';
import { WireError } from './wire-reader.ts';

export interface RequestBody {
  readonly bytes: Buffer;
  /** JSON if it is undefined. */
  readonly contentType: string | undefined;
  readonly expected: ExpectedType;
  /** The treatment of unknown and duplicate fields: an error, warnings, or nothing. */
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Replaces old names of fields, before fields are validated. */
  readonly convert?: BodyConversion | undefined;
}

/** Returns the same object if nothing has to change. The notices become warnings. */
export type BodyConversion = (object: Readonly<Record<string, unknown>>) => {
  readonly object: Readonly<Record<string, unknown>>;
  readonly notices: readonly string[];
};

export interface DecodedBody {
  /** The object in its stored form, with kind and apiVersion; not shared with other objects. */
  readonly object: Record<string, unknown>;
  readonly warnings: readonly string[];
}

/**
 * Decodes the body of a request to an object of the expected type, or throws the error of Kubernetes: 415 for an
 * unknown media type, 400 for any problem of the body. Kind and apiVersion may be absent.
 */
export function decodeBody(body: RequestBody): DecodedBody {
  const media = (body.contentType ?? '').split(';')[0]?.trim().toLowerCase();
  switch (media) {
    case '':
    case 'application/json':
      return decodeJson(body);
    case 'application/yaml':
      return decodeYaml(body);
    case 'application/vnd.kubernetes.protobuf':
      return decodeProtobuf(body);
    default:
      throw failure(
        415,
        'UnsupportedMediaType',
        `the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(', ')}`,
      );
  }
}

const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

function decodeJson(body: RequestBody): DecodedBody {
  const document = orUnrecognized(body, () => readJson(body.bytes, { keepsNumbers: true }));
  return decodeValue(body, document, []);
}

function decodeYaml(body: RequestBody): DecodedBody {
  const { value, duplicates } = orUnrecognized(body, () => readYaml(body.bytes.toString('utf8')));
  return decodeValue(body, { value, duplicates: [], order: noOrder }, duplicates);
}

function decodeValue(
  body: RequestBody,
  document: JsonDocument,
  yamlDuplicates: readonly string[],
): DecodedBody {
  const given = document.value ?? {};
  if (!isJsonObject(given))
    throw unreadable(body, `${jsonKindName(given)} into Go value of type ${goFinder}`);
  const converted = body.convert?.(given) ?? { object: given, notices: [] };
  const decoded = decodeObject(body, { ...document, value: converted.object }, yamlDuplicates);
  return { ...decoded, warnings: [...converted.notices, ...decoded.warnings] };
}

function decodeObject(
  body: RequestBody,
  document: JsonDocument & { readonly value: Readonly<Record<string, unknown>> },
  yamlDuplicates: readonly string[],
): DecodedBody {
  const { value } = document;
  const found = checkedKind(body, kindOf(body, value));
  const { object, unknownFields } = orRefused(body, found, () =>
    formOf(body.expected).normalize({ ...value, kind: found.kind, apiVersion: apiVersionOf(body.expected) }),
  );
  if (body.fieldValidation === 'Ignore') return { object, warnings: [] };
  const problems = strictDecodingProblems(body.expected, document, unknownFields);
  if (body.fieldValidation === 'Warn') return { object, warnings: [...yamlDuplicates, ...problems] };
  const yaml = yamlDuplicates.length === 0 ? [] : [yamlError(yamlDuplicates)];
  if (yaml.length + problems.length === 0) return { object, warnings: [] };
  throw refused(body, found, `strict decoding error: ${[...yaml, ...problems].join(', ')}`);
}

function yamlError(duplicates: readonly string[]): string {
  return ['yaml: unmarshal errors:', ...duplicates.map((text) => `  ${text}`)].join('\n');
}

/** Unknown fields cannot be distinguished from fields of a newer version, so they are not reported. */
function decodeProtobuf(body: RequestBody): DecodedBody {
  const envelope = orUnrecognized(body, () => readEnvelope(body.bytes));
  const gv = parseApiVersion(envelope.apiVersion) ?? { group: '', version: '' };
  const found = checkedKind(body, { ...gv, kind: envelope.kind });
  if (body.expected.form !== undefined) throw refused(body, found, noProtobuf);
  const { kind, type } = body.expected;
  const { object } = orRefused(body, found, () => {
    const message = readMessage(type, envelope.raw);
    return formOf(body.expected).normalize({ ...message, kind, apiVersion: apiVersionOf(body.expected) });
  });
  return { object, warnings: [] };
}

/** Only generated Go types have protobuf; the schema of a custom resource does not define one. */
const noProtobuf =
  'object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message';

/** The kind and apiVersion that the body states. */
function kindOf(body: RequestBody, value: Readonly<Record<string, unknown>>): GroupVersionKind {
  const texts = { apiVersion: '', kind: '' };
  for (const name of ['apiVersion', 'kind'] as const) {
    const given = value[name];
    if (typeof given === 'string') texts[name] = given;
    else if (given !== undefined && given !== null)
      throw unreadable(body, `${jsonKindName(given)} into Go struct field .${name} of type string`);
  }
  const groupVersion = parseApiVersion(texts.apiVersion);
  if (groupVersion === undefined)
    throw unrecognized(body, `unexpected GroupVersion string: ${texts.apiVersion}`);
  return { ...groupVersion, kind: texts.kind };
}

/** Go's message shows the type with which it looks for the kind. */
const goFinder =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The kind of the body, completed by the expected kind. */
function checkedKind(body: RequestBody, given: GroupVersionKind): GroupVersionKind {
  if (body.expected.form !== undefined) return checkedCustomKind(body, given);
  const found = withDefaults(given, body.expected);
  checkKind(body, found);
  return found;
}

/** Custom resources must state their kind. Validation checks later that it is the right one. */
function checkedCustomKind(body: RequestBody, found: GroupVersionKind): GroupVersionKind {
  if (found.kind === '')
    throw unrecognized(body, `Object 'Kind' is missing in '${body.bytes.toString('utf8')}'`);
  const [given, expected] = [apiVersionOf(found), apiVersionOf(body.expected)];
  if (given !== expected) throw badRequest(versionMismatch(given, expected));
  return found;
}

function checkKind(body: RequestBody, found: GroupVersionKind): void {
  if (found.version === '')
    throw refused(body, found, `Object 'apiVersion' is missing in '${body.bytes.toString('utf8')}'`);
  const problem = kindMismatch(found, body.expected);
  if (problem === undefined) return;
  throw problem.isComplete ? badRequest(problem.message) : refused(body, found, problem.message);
}

function orUnrecognized<T>(body: RequestBody, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw unrecognized(body, `couldn't get version/kind; json parse error: ${error.message}`);
    if (error instanceof YamlSyntaxError || error instanceof WireError)
      throw unrecognized(body, error.message);
    throw error;
  }
}

function orRefused<T>(body: RequestBody, found: GroupVersionKind, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isExpected =
      error instanceof ApiError || error instanceof WireError || error instanceof JsonSyntaxError;
    throw isExpected ? refused(body, found, error.message) : error;
  }
}

function refused({ expected }: RequestBody, found: GroupVersionKind, why: string): ApiError {
  const version = JSON.stringify(found.version);
  return badRequest(`${found.kind} in version ${version} cannot be handled as a ${expected.kind}: ${why}`);
}

function unreadable(body: RequestBody, mismatch: string): ApiError {
  return unrecognized(
    body,
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${mismatch}`,
  );
}

function unrecognized({ bytes, expected }: RequestBody, why: string): ApiError {
  const what = `the object provided is unrecognized (must be of type ${expected.kind})`;
  return badRequest(`${what}: ${why} (${summary(bytes)})`);
}

const summaryBytesMax = 30;

function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const encoding = bytes[0] === 0x7b ? 'utf8' : 'hex';
  const shown = bytes.toString(encoding, 0, summaryBytesMax);
  return bytes.length > summaryBytesMax ? `${shown} ...` : shown;
}

import type { KindCatalog } from '../../kinds/kind-catalog.ts';
import type { OpenApiSchema } from './schemas.ts';
import { v2Entries, v2Head, v2Tail } from './v2-document.ts';
import { WireWriter } from './wire-writer.ts';

/** Encodes an OpenAPI 2 document as gnostic's message `openapi.v2.Document`, which kubectl and client-go read. Other work gets turns. */
export async function openApiV2Protobuf(kinds: Pick<KindCatalog, 'all'>): Promise<Buffer> {
  const sections = { paths: new WireWriter(), definitions: new WireWriter() };
  for await (const { section, name, json } of v2Entries(kinds)) {
    const { entries } = section === 'paths' ? messages.Paths : messages.Definitions;
    if (entries !== undefined) writeEntry(sections[section], entries, name, JSON.parse(json));
  }
  const writer = new WireWriter();
  writeMessage(writer, messages.Document, v2Head);
  writer.bytes(pathsField, sections.paths.finish());
  writer.bytes(definitionsField, sections.definitions.finish());
  writeMessage(writer, messages.Document, v2Tail);
  return writer.finish();
}

const pathsField = 8;
const definitionsField = 9;

type Leaf = 'any' | 'bool' | 'double' | 'int64' | 'string';

/** `path` lists the field numbers of the nested messages that lead to the value; the last number is the value's own. */
interface Field {
  readonly path: readonly number[];
  readonly type: Leaf | MessageName;
}

interface Message {
  readonly fields?: Readonly<Record<string, Field | ((value: unknown) => Field)>>;
  /** For a map: the type of its entries. */
  readonly entries?: Field;
  /** The field number of the extensions. */
  readonly extensions?: number;
}

type MessageName =
  | 'BodyParameter'
  | 'Definitions'
  | 'Info'
  | 'Operation'
  | 'PathItem'
  | 'PathParameter'
  | 'Paths'
  | 'QueryParameter'
  | 'Response'
  | 'Responses'
  | 'Schema'
  | 'Scopes'
  | 'SecurityDefinition'
  | 'SecurityDefinitions'
  | 'SecurityRequirement';

function at(type: Field['type'], ...path: readonly number[]): Field {
  return { path, type };
}

function parameterField(number: number): (value: unknown) => Field {
  const body = at('BodyParameter', number, 1, 1);
  const query = at('QueryParameter', number, 1, 2, 3);
  const path = at('PathParameter', number, 1, 2, 4);
  return (value) => {
    const where = (value as OpenApiSchema).in;
    return where === 'body' ? body : where === 'query' ? query : path;
  };
}

const additionalSchema = at('Schema', 21, 1);
const additionalBool = at('bool', 21, 2);

/**
 * Field numbers from gnostic's `OpenAPIv2.proto`, as far as our documents need them; no reader uses the examples, so
 * they are left out. Maps are lists of entries with a name and a value.
 */
const messages: Readonly<Record<MessageName | 'Document', Message>> = {
  Document: {
    fields: {
      swagger: at('string', 1),
      info: at('Info', 2),
      paths: at('Paths', pathsField),
      definitions: at('Definitions', definitionsField),
      security: at('SecurityRequirement', 12),
      securityDefinitions: at('SecurityDefinitions', 13),
    },
  },
  Info: { fields: { title: at('string', 1), version: at('string', 2) } },
  Paths: { entries: at('PathItem', 2, 2) },
  PathItem: {
    fields: {
      get: at('Operation', 2),
      put: at('Operation', 3),
      post: at('Operation', 4),
      delete: at('Operation', 5),
      patch: at('Operation', 8),
      parameters: parameterField(9),
    },
  },
  Operation: {
    fields: {
      produces: at('string', 6),
      consumes: at('string', 7),
      parameters: parameterField(8),
      responses: at('Responses', 9),
      schemes: at('string', 10),
    },
    extensions: 13,
  },
  BodyParameter: {
    fields: {
      name: at('string', 2),
      in: at('string', 3),
      required: at('bool', 4),
      schema: at('Schema', 5),
    },
  },
  QueryParameter: {
    fields: {
      required: at('bool', 1),
      in: at('string', 2),
      name: at('string', 4),
      type: at('string', 6),
      uniqueItems: at('bool', 20),
    },
  },
  PathParameter: {
    fields: {
      required: at('bool', 1),
      in: at('string', 2),
      name: at('string', 4),
      type: at('string', 5),
      uniqueItems: at('bool', 19),
    },
  },
  Responses: { entries: at('Response', 1, 2, 1) },
  Response: { fields: { description: at('string', 1), schema: at('Schema', 2, 1) } },
  Definitions: { entries: at('Schema', 1, 2) },
  Schema: {
    fields: {
      $ref: at('string', 1),
      format: at('string', 2),
      title: at('string', 3),
      description: at('string', 4),
      multipleOf: at('double', 6),
      maximum: at('double', 7),
      exclusiveMaximum: at('bool', 8),
      minimum: at('double', 9),
      exclusiveMinimum: at('bool', 10),
      maxLength: at('int64', 11),
      minLength: at('int64', 12),
      pattern: at('string', 13),
      maxItems: at('int64', 14),
      minItems: at('int64', 15),
      uniqueItems: at('bool', 16),
      maxProperties: at('int64', 17),
      minProperties: at('int64', 18),
      required: at('string', 19),
      enum: at('any', 20),
      additionalProperties: (value) => (typeof value === 'boolean' ? additionalBool : additionalSchema),
      type: at('string', 22, 1),
      items: at('Schema', 23, 1),
      properties: at('Definitions', 25),
    },
    extensions: 31,
  },
  SecurityDefinitions: { entries: at('SecurityDefinition', 1, 2, 2) },
  SecurityDefinition: {
    fields: {
      type: at('string', 1),
      name: at('string', 2),
      in: at('string', 3),
      description: at('string', 4),
    },
  },
  SecurityRequirement: { entries: at('Scopes', 1, 2) },
  Scopes: {},
};

/** Skips fields that the message does not define. */
function writeMessage(writer: WireWriter, message: Message, value: OpenApiSchema): void {
  for (const [name, each] of Object.entries(value)) {
    if (message.entries !== undefined) writeEntry(writer, message.entries, name, each);
    else if (message.extensions !== undefined && name.startsWith('x-'))
      writeEntry(writer, at('any', message.extensions, 2), name, each);
    else writeField(writer, message, name, each);
  }
}

function writeField(writer: WireWriter, message: Message, name: string, value: unknown): void {
  const field = message.fields?.[name];
  if (field === undefined) return;
  for (const each of Array.isArray(value) ? value : [value]) {
    const { path, type } = typeof field === 'function' ? field(each) : field;
    writeAlong(writer, path, type, each);
  }
}

function writeEntry(writer: WireWriter, { path, type }: Field, name: string, value: unknown): void {
  const [number = 0, ...rest] = path;
  writer.message(number, () => {
    writer.text(1, name);
    writeAlong(writer, rest, type, value);
  });
}

function writeAlong(writer: WireWriter, path: readonly number[], type: Field['type'], value: unknown): void {
  const [number = 0, ...rest] = path;
  if (rest.length > 0) writer.message(number, () => writeAlong(writer, rest, type, value));
  else writeValue(writer, number, type, value);
}

function writeValue(writer: WireWriter, number: number, type: Field['type'], value: unknown): void {
  if (isLeaf(type)) writeLeaf[type](writer, number, value);
  else writer.message(number, () => writeMessage(writer, messages[type], value as OpenApiSchema));
}

const writeLeaf: Readonly<Record<Leaf, (writer: WireWriter, number: number, value: unknown) => void>> = {
  any: (writer, number, value) => writer.message(number, () => writer.text(2, yamlOf(value))),
  bool: (writer, number, value) => writer.bool(number, value === true),
  double: (writer, number, value) => writer.double(number, Number(value)),
  int64: (writer, number, value) => writer.int64(number, Number(value)),
  string: (writer, number, value) => writer.text(number, String(value)),
};

function isLeaf(type: Field['type']): type is Leaf {
  return type in writeLeaf;
}

/** JSON is valid YAML except for characters that YAML requires to be escaped. */
function yamlOf(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

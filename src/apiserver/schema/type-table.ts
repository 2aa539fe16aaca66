import { assert } from '../../runtime/assert.ts';
import { addedFields } from './added-fields.ts';
import { tables } from './generated/tables.ts';

/**
 * Reads the generated tables, which describe each field of Kubernetes' Go types. A type is a block of lines:
 *
 *     core/v1.Volume                                          id, then the flags `kind` and `atomic`
 *     name 1 string ! default=""                              JSON name, protobuf number, type, flags, attributes
 *     ~ 2 @core/v1.VolumeSource                               `~`: embedded; in JSON its fields belong to this type
 *
 * Types: `string`, `string=v1.PullPolicy` (named in Go), `@id` (a struct), `[]x` and `{}x` (lists and maps; the name, if Go
 * gives one, between the brackets; after a comma the name of a map's keys).
 * Flags: `*` pointer, `?` omitempty, `0` omitzero, `!` required.
 *
 * Loading only splits the text; a type is parsed on first use.
 */
export function tableOf(id: string): TypeTable {
  const known = parsed.get(id);
  if (known !== undefined) return known;
  const block = blocks().get(id);
  assert(block !== undefined, `there is no API type ${id}`);
  const table = parseType(block);
  parsed.set(id, table);
  return table;
}

export function hasTable(id: string): boolean {
  return blocks().has(id);
}

export function tableIds(): readonly string[] {
  return [...blocks().keys()];
}

export interface TypeTable {
  /** `core/v1.Pod`. */
  readonly id: string;
  /** Whether it is an object, with apiVersion and kind. */
  readonly isKind: boolean;
  /** Whether a manager owns it as a whole. */
  readonly isAtomic: boolean;
  /** Members in the order of the Go fields, which is the order of Go's JSON. */
  readonly members: readonly TypeMember[];
}

export type TypeMember = FieldTable | EmbeddedTable;

export interface FieldTable {
  readonly kind: 'field';
  readonly name: string;
  /** The protobuf number; 0 if it has none. */
  readonly number: number;
  readonly type: ValueType;
  readonly isPointer: boolean;
  readonly omitsEmpty: boolean;
  readonly omitsZero: boolean;
  readonly isRequired: boolean;
  readonly patchStrategies: readonly string[];
  readonly mergeKey: string | undefined;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly listKeys: readonly string[];
  readonly mapType: 'atomic' | 'granular' | undefined;
  /** As published in OpenAPI; undefined if there is none. */
  readonly defaultJson: string | undefined;
}

/** An embedded struct: in JSON its fields belong to its owner, in protobuf it is a message of its own. */
export interface EmbeddedTable {
  readonly kind: 'embedded';
  readonly number: number;
  /** The id of the struct. */
  readonly type: string;
}

export type LeafForm =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'bytes'
  | 'quantity'
  | 'time'
  | 'microTime'
  | 'intOrString'
  | 'rawExtension'
  | 'fieldsV1'
  | 'json';

/** A schema of a CustomResourceDefinition, or what may replace it: several schemas, a boolean, or names of fields. */
export type SchemaForm = 'schemaOrList' | 'schemaOrBool' | 'schemaOrNames';

/** The type of such a schema. */
export const schemaTypeId = 'apiextensions.k8s.io/v1.JSONSchemaProps';

/** `goName` is the name of the type in Go's messages. */
export type ValueType =
  | { readonly form: LeafForm; readonly goName: string }
  | { readonly form: SchemaForm; readonly goName: string }
  | { readonly form: 'struct'; readonly id: string; readonly goName: string }
  | { readonly form: 'list'; readonly element: ValueType; readonly goName: string }
  | { readonly form: 'map'; readonly element: ValueType; readonly goName: string };

/** `PodSpec` for `core/v1.PodSpec`. */
export function shortName(id: string): string {
  return id.slice(id.lastIndexOf('.') + 1);
}

const parsed = new Map<string, TypeTable>();
let blocksById: ReadonlyMap<string, string> | undefined;

function blocks(): ReadonlyMap<string, string> {
  blocksById ??= new Map(tables.split('\n\n').map((block) => [/^\S+/.exec(block)?.[0] ?? '', block]));
  return blocksById;
}

function parseType(block: string): TypeTable {
  const [header = '', ...lines] = block.split('\n');
  const [id = '', ...flags] = header.split(' ');
  return {
    id,
    isKind: flags.includes('kind'),
    isAtomic: flags.includes('atomic'),
    members: [...lines, ...Object.values(addedFields[id] ?? {}).map(({ line }) => line)].map(parseMember),
  };
}

function parseMember(line: string): TypeMember {
  // Defaults come last because they may contain blanks.
  const [facts = '', defaultJson] = line.split(' default=', 2);
  const [name = '', number = '', type = '', ...rest] = facts.split(' ');
  if (name === '~') return { kind: 'embedded', number: Number(number), type: type.slice(1) };
  const flags = rest[0] !== undefined && !rest[0].includes('=') ? rest[0] : '';
  const attributes = new Map(rest.filter((part) => part.includes('=')).map(splitAttribute));
  const [listType, listKeys = ''] = attributes.get('list')?.split(':') ?? [];
  return {
    kind: 'field',
    name,
    number: Number(number),
    type: parseValueType(type),
    isPointer: flags.includes('*'),
    omitsEmpty: flags.includes('?'),
    omitsZero: flags.includes('0'),
    isRequired: flags.includes('!'),
    patchStrategies: attributes.get('patch')?.split(',') ?? [],
    mergeKey: attributes.get('key'),
    listType: listType as FieldTable['listType'],
    listKeys: listKeys === '' ? [] : listKeys.split(','),
    mapType: attributes.get('map') as FieldTable['mapType'],
    defaultJson,
  };
}

function splitAttribute(part: string): [string, string] {
  const equals = part.indexOf('=');
  return [part.slice(0, equals), part.slice(equals + 1)];
}

function parseValueType(text: string): ValueType {
  if (text.startsWith('@'))
    return { form: 'struct', id: text.slice(1), goName: `v1.${shortName(text.slice(1))}` };
  if (text.startsWith('[')) {
    const [named, rest] = [text.slice(1, text.indexOf(']')), text.slice(text.indexOf(']') + 1)];
    const element = parseValueType(rest);
    return { form: 'list', element, goName: named === '' ? `[]${element.goName}` : named };
  }
  if (text.startsWith('{')) {
    const [named, rest] = [text.slice(1, text.indexOf('}')), text.slice(text.indexOf('}') + 1)];
    const element = parseValueType(rest);
    const [own = '', key = 'string'] = named.split(',');
    return { form: 'map', element, goName: own === '' ? `map[${key}]${element.goName}` : own };
  }
  const [form = '', named] = text.split('=');
  return { form: form as LeafForm, goName: named ?? leafGoNames[form] ?? form };
}

const leafGoNames: Readonly<Record<string, string>> = {
  bytes: '[]uint8',
  quantity: 'resource.Quantity',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  intOrString: 'intstr.IntOrString',
  rawExtension: 'runtime.RawExtension',
  fieldsV1: 'v1.FieldsV1',
  json: 'v1.JSON',
  schemaOrList: 'v1.JSONSchemaPropsOrArray',
  schemaOrBool: 'v1.JSONSchemaPropsOrBool',
  schemaOrNames: 'v1.JSONSchemaPropsOrStringArray',
};

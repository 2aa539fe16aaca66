import { setKey } from '../../kube/go/json-value.ts';
import { microTimeFromUnix, timeFromUnix } from '../../kube/go/kubernetes-time.ts';
import { readJson } from './json-reader.ts';
import {
  type FieldTable,
  type LeafForm,
  type SchemaForm,
  schemaTypeId,
  shortName,
  tableOf,
  type ValueType,
} from './type-table.ts';
import { WireError, WireReader } from './wire-reader.ts';

/** The envelope of a protobuf body of Kubernetes. */
export interface ProtobufEnvelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Buffer;
}

/** Four bytes `k8s\0`, then a runtime.Unknown: {1: {1: apiVersion, 2: kind}, 2: the object}. Throws {@link WireError}. */
export function readEnvelope(bytes: Buffer): ProtobufEnvelope {
  if (bytes.length === 0) throw new WireError('empty data');
  if (!bytes.subarray(0, magic.length).equals(magic)) {
    const expected = `[${[...magic].join(' ')}]`;
    throw new WireError(
      `provided data does not appear to be a protobuf message, expected prefix ${expected}`,
    );
  }
  if (bytes.length === magic.length) throw new WireError('empty body');
  const envelope = { apiVersion: '', kind: '', raw: bytes.subarray(0, 0) };
  const reader = new WireReader(bytes.subarray(magic.length));
  forEachField(reader, 'Unknown', (number, type) => {
    if (number === 1 && type === 2) readTypeMeta(reader, envelope);
    else if (number === 2 && type === 2) envelope.raw = reader.bytes();
    else reader.skip(type);
  });
  return envelope;
}

/**
 * Decodes a message into plain JSON, driven by the tables. The result has everything that is in the message, including
 * zeros of fields that are not pointers; `normalize` drops those that mean nothing. Throws {@link WireError}.
 */
export function readMessage(typeId: string, bytes: Buffer): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  readInto(typeId, new WireReader(bytes), object);
  return object;
}

const magic = Buffer.from('k8s\0', 'latin1');

type JsonObject = Record<string, unknown>;
type ReadField = (reader: WireReader, type: number, into: JsonObject) => void;

interface MessageReader {
  readonly name: string;
  readonly fields: ReadonlyMap<number, ReadField>;
}

const messages = new Map<string, MessageReader>();

function messageOf(typeId: string): MessageReader {
  let message = messages.get(typeId);
  if (message === undefined) {
    const fields = tableOf(typeId).members.map((member) => [member.number, memberReader(member)] as const);
    message = { name: shortName(typeId), fields: new Map(fields) };
    messages.set(typeId, message);
  }
  return message;
}

function readInto(typeId: string, reader: WireReader, into: JsonObject): void {
  const { name, fields } = messageOf(typeId);
  while (!reader.isAtEnd) {
    const read = fields.get(reader.field(name));
    if (read === undefined) reader.skip(reader.wireType);
    else read(reader, reader.wireType, into);
  }
}

function memberReader(member: ReturnType<typeof tableOf>['members'][number]): ReadField {
  if (member.kind === 'field') return fieldReader(member);
  return (reader, type, into) => {
    expectType(type, 2, shortName(member.type));
    inMessage(reader, () => readInto(member.type, reader, into));
  };
}

function fieldReader({ name, type }: FieldTable): ReadField {
  switch (type.form) {
    case 'list':
      return listReader(name, type.element);
    case 'map':
      return mapReader(name, type.element);
    case 'struct':
      // A message that comes in several parts is merged.
      return (reader, wire, into) => {
        expectType(wire, 2, name);
        const target = (into[name] as JsonObject | undefined) ?? {};
        into[name] = target;
        inMessage(reader, () => readInto(type.id, reader, target));
      };
    default:
      return valueField(name, type);
  }
}

function valueField(name: string, type: ValueType): ReadField {
  const wanted = wireTypeOf(type);
  return (reader, wire, into) => {
    expectType(wire, wanted, name);
    into[name] = readValue(type, reader);
  };
}

function listReader(name: string, element: ValueType): ReadField {
  const wanted = wireTypeOf(element);
  return (reader, wire, into) => {
    const list = (into[name] as unknown[] | undefined) ?? [];
    into[name] = list;
    if (wire === 2 && wanted === 0) {
      // Numbers may be packed.
      inMessage(reader, () => {
        while (!reader.isAtEnd) list.push(readValue(element, reader));
      });
      return;
    }
    expectType(wire, wanted, name);
    list.push(readValue(element, reader));
  };
}

/** Maps are lists of entries {1: key, 2: value}; both may be absent. */
function mapReader(name: string, element: ValueType): ReadField {
  const wanted = wireTypeOf(element);
  return (reader, wire, into) => {
    expectType(wire, 2, name);
    const map = (into[name] as JsonObject | undefined) ?? {};
    into[name] = map;
    let key = '';
    let value: unknown = null;
    inMessage(reader, () =>
      forEachField(reader, 'entry', (number, type) => {
        if (number === 1 && type === 2) key = reader.text();
        else if (number === 2 && type === wanted) value = readValue(element, reader);
        else reader.skip(type);
      }),
    );
    setKey(map, key, value);
  };
}

function wireTypeOf({ form }: ValueType): number {
  if (form === 'float64') return 1;
  return form === 'bool' || form === 'int32' || form === 'int64' ? 0 : 2;
}

function readValue(type: ValueType, reader: WireReader): unknown {
  switch (type.form) {
    case 'struct':
      return readStruct(type.id, reader);
    case 'list':
      return readWrapped(type.element, reader);
    case 'map':
      throw new WireError('proto: no type has maps in lists or maps');
    case 'schemaOrList':
    case 'schemaOrBool':
    case 'schemaOrNames':
      return readSchema(type.form, reader);
    default:
      return leafReaders[type.form](reader);
  }
}

/**
 * A nested schema: {1: schema, 2: schemas} or {1: schema, 2: names}, but {1: boolean, 2: schema} if a boolean is
 * allowed.
 */
function readSchema(form: SchemaForm, reader: WireReader): unknown {
  const found: { schema?: JsonObject; list: unknown[]; allows: boolean } = { list: [], allows: false };
  const schemaNumber = form === 'schemaOrBool' ? 2 : 1;
  inMessage(reader, () =>
    forEachField(reader, shortName(schemaTypeId), (number, type) => {
      if (type === 2 && number === schemaNumber) found.schema = readStruct(schemaTypeId, reader);
      else if (type === 2 && form === 'schemaOrList') found.list.push(readStruct(schemaTypeId, reader));
      else if (type === 2 && form === 'schemaOrNames') found.list.push(reader.text());
      else if (type === 0 && form === 'schemaOrBool') found.allows = reader.bool();
      else reader.skip(type);
    }),
  );
  if (form === 'schemaOrBool') return found.schema ?? found.allows;
  return found.list.length > 0 ? found.list : (found.schema ?? null);
}

function readStruct(typeId: string, reader: WireReader): JsonObject {
  const object: JsonObject = {};
  inMessage(reader, () => readInto(typeId, reader, object));
  return object;
}

/** A list with a named Go type: {1: items}. */
function readWrapped(element: ValueType, reader: WireReader): unknown {
  const message: { items?: unknown } = {};
  const readItem = listReader('items', element);
  inMessage(reader, () =>
    forEachField(reader, 'list', (number, type) => {
      if (number === 1) readItem(reader, type, message);
      else reader.skip(type);
    }),
  );
  return message.items ?? null;
}

const leafReaders: Readonly<Record<LeafForm, (reader: WireReader) => unknown>> = {
  string: (reader) => reader.text(),
  bool: (reader) => reader.bool(),
  int32: (reader) => reader.int32(),
  int64: (reader) => reader.int64(),
  float64: (reader) => reader.float64(),
  bytes: (reader) => reader.bytes().toString('base64'),
  quantity: readQuantity,
  time: readTime,
  microTime: readMicroTime,
  intOrString: readIntOrString,
  rawExtension: readRaw,
  fieldsV1: readRaw,
  json: readRaw,
};

function readQuantity(reader: WireReader): string {
  let text = '0';
  inMessage(reader, () =>
    forEachField(reader, 'Quantity', (number, type) => {
      if (number === 1 && type === 2) text = reader.text();
      else reader.skip(type);
    }),
  );
  return text;
}

/** An empty message is Go's zero time. */
function readTime(reader: WireReader): string | null {
  const { seconds, isEmpty } = readTimestamp(reader);
  return isEmpty ? null : inRange(timeFromUnix(seconds));
}

function readMicroTime(reader: WireReader): string | null {
  const { seconds, nanos, isEmpty } = readTimestamp(reader);
  return isEmpty ? null : inRange(microTimeFromUnix(seconds, nanos));
}

function readTimestamp(reader: WireReader): { seconds: number; nanos: number; isEmpty: boolean } {
  const timestamp = { seconds: 0, nanos: 0, isEmpty: true };
  inMessage(reader, () =>
    forEachField(reader, 'Timestamp', (number, type) => {
      timestamp.isEmpty = false;
      if (number === 1 && type === 0) timestamp.seconds = Number(reader.int64());
      else if (number === 2 && type === 0) timestamp.nanos = reader.int32();
      else reader.skip(type);
    }),
  );
  return timestamp;
}

function inRange(time: string | undefined): string {
  if (time === undefined) throw new WireError('Time: year outside of range [0,9999]');
  return time;
}

/** {1: type, 2: number, 3: text}; type 1 selects the text. */
function readIntOrString(reader: WireReader): number | string {
  const value = { type: 0, number: 0, text: '' };
  inMessage(reader, () =>
    forEachField(reader, 'IntOrString', (number, type) => {
      if (number === 1 && type === 0) value.type = Number(reader.int64());
      else if (number === 2 && type === 0) value.number = reader.int32();
      else if (number === 3 && type === 2) value.text = reader.text();
      else reader.skip(type);
    }),
  );
  if (value.type !== 0 && value.type !== 1) throw new WireError('impossible IntOrString.Type');
  return value.type === 1 ? value.text : value.number;
}

/** JSON as bytes. */
function readRaw(reader: WireReader): unknown {
  let raw: Buffer | undefined;
  inMessage(reader, () =>
    forEachField(reader, 'RawExtension', (number, type) => {
      if (number === 1 && type === 2) raw = reader.bytes();
      else reader.skip(type);
    }),
  );
  return raw === undefined || raw.length === 0 ? null : readJson(raw).value;
}

function readTypeMeta(reader: WireReader, envelope: { apiVersion: string; kind: string }): void {
  inMessage(reader, () =>
    forEachField(reader, 'TypeMeta', (number, type) => {
      if (number === 1 && type === 2) envelope.apiVersion = reader.text();
      else if (number === 2 && type === 2) envelope.kind = reader.text();
      else reader.skip(type);
    }),
  );
}

function forEachField(
  reader: WireReader,
  message: string,
  visit: (number: number, type: number) => void,
): void {
  while (!reader.isAtEnd) {
    const number = reader.field(message);
    visit(number, reader.wireType);
  }
}

function inMessage(reader: WireReader, read: () => void): void {
  const outer = reader.enter();
  read();
  reader.leave(outer);
}

function expectType(found: number, wanted: number, field: string): void {
  if (found !== wanted) throw new WireError(`proto: wrong wireType = ${found} for field ${goField(field)}`);
}

/** Go's field names start with a capital letter. */
function goField(name: string): string {
  if (name === 'metadata') return 'ObjectMeta';
  return name.charAt(0).toUpperCase() + name.slice(1);
}

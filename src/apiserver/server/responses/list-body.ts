import { stringify } from 'yaml';
import { jsonText } from '../../../kube/go/json-text.ts';
import { WorkSlices } from '../../../runtime/work-slices.ts';
import { parseServerJson } from '../../schema/json-reader.ts';
import type { ResponseFormat } from './negotiation.ts';

/** A list or a table as JSON whose elements are made one by one. */
export interface ListBody {
  /** All fields but the list, in their order. */
  readonly fields: object;
  readonly listField: 'items' | 'rows';
  readonly elements: Iterable<ListElement>;
}

export interface ListElement {
  readonly json: readonly Uint8Array[];
  /** The bytes that had to be parsed or copied for it. */
  readonly workBytes: number;
}

/** Go's key order and indentation; text that YAML 1.1 would read as another type is quoted. */
export const yamlOptions = {
  lineWidth: 80,
  sortMapEntries: true,
  version: '1.1',
  indentSeq: false,
} as const;

/** The whole body as compact JSON. */
export function listJson({ fields, listField, elements }: ListBody): Uint8Array[] {
  const pieces: Uint8Array[] = [Buffer.from(`${jsonText(fields).slice(0, -1)},"${listField}":[`)];
  let isFirst = true;
  for (const { json } of elements) {
    if (!isFirst) pieces.push(comma);
    isFirst = false;
    pieces.push(...json);
  }
  pieces.push(listEnd);
  return pieces;
}

/** Small enough that thousands of clients that do not read take little memory. */
const pieceBytes = 64 * 1024;
/** YAML takes fifty times as long as parsing JSON. */
const yamlSliceBytes = 32 * 1024;

/**
 * The body in pieces, made while it is sent. A list may have all objects of the server: in one go it would stop the process for as long
 * as it takes, and as text it would take as much memory as the objects.
 */
export async function* listPieces(
  body: ListBody,
  format: Pick<ResponseFormat, 'media' | 'isPretty'>,
): AsyncGenerator<Uint8Array> {
  const isYaml = format.media === 'yaml';
  const slices = isYaml ? new WorkSlices(yamlSliceBytes) : new WorkSlices();
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for (const { pieces, workBytes } of isYaml ? yamlParts(body) : jsonParts(body, format.isPretty)) {
    for (const piece of pieces) {
      gathered.push(piece);
      bytes += piece.length;
    }
    if (bytes >= pieceBytes) {
      yield Buffer.concat(gathered);
      gathered = [];
      bytes = 0;
    }
    const turn = slices.add(workBytes);
    if (turn !== undefined) await turn;
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}

interface BodyPart {
  readonly pieces: readonly Uint8Array[];
  readonly workBytes: number;
}

function* jsonParts({ fields, listField, elements }: ListBody, isPretty: boolean): Generator<BodyPart> {
  const [inner, line, indent] = isPretty ? ['\n    ', '\n  ', ' '] : ['', '', ''];
  const head = jsonText(fields, isPretty ? 2 : 0).slice(0, isPretty ? -2 : -1);
  yield textPart(`${head},${line}"${listField}":${indent}[`);
  let isFirst = true;
  for (const { json, workBytes } of elements) {
    const separator = Buffer.from(isFirst ? inner : `,${inner}`);
    isFirst = false;
    const element = isPretty ? [prettyElement(json)] : json;
    yield { pieces: [separator, ...element], workBytes: isPretty ? workBytes + lengthOf(json) : workBytes };
  }
  yield textPart(isPretty ? '\n  ]\n}' : ']}\n');
}

function prettyElement(json: readonly Uint8Array[]): Buffer {
  return Buffer.from(jsonText(parsed(json), 2).replaceAll('\n', '\n    '));
}

/** Elements of a list are not indented, so that each is a document of its own. */
function* yamlParts({ fields, listField, elements }: ListBody): Generator<BodyPart> {
  const entries = [...Object.entries(fields), [listField, undefined] as const];
  for (const [field, value] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (field !== listField) {
      yield textPart(stringify({ [field]: value }, yamlOptions));
      continue;
    }
    yield textPart(`${listField}:\n`);
    for (const { json, workBytes } of elements) {
      const text = stringify([parsed(json)], yamlOptions);
      yield { pieces: [Buffer.from(text)], workBytes: workBytes + lengthOf(json) };
    }
  }
}

function textPart(text: string): BodyPart {
  return { pieces: [Buffer.from(text)], workBytes: text.length };
}

function parsed(json: readonly Uint8Array[]): unknown {
  return parseServerJson(Buffer.concat(json).toString());
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  return bytes;
}

const comma = Buffer.from(',');
const listEnd = Buffer.from(']}');

import { parseServerJson } from '../apiserver/schema/json-reader.ts';
import { readYamlDocuments, YamlSyntaxError } from '../io/yaml/yaml-reader.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { isRecord, listOf, textOf } from '../kube/wire.ts';
import { addObjects, type SortedObjects } from './add-objects.ts';
import type { ClusterSnapshot } from './cluster-snapshot.ts';

/** A file that can't be read. The message names the file, the document and the field. */
export class ManifestError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ManifestError';
  }
}

/**
 * Adds the objects in a text to a snapshot. The text is JSON, or YAML with one or more documents, of objects or lists, as `kubectl get`
 * prints them. `source` is the name of the text in errors.
 */
export function readManifests(text: string, source: string, snapshot: ClusterSnapshot): SortedObjects {
  return addObjects(manifestObjects(text, source), snapshot);
}

/** The objects of any kind in a text, as they are. */
export function manifestObjects(text: string, source: string): readonly KubeObject[] {
  return documentsOf(text, source).flatMap((document, at) =>
    objectsIn(document, `${source}, document ${at + 1}`),
  );
}

/** The values of the documents in a text: one for JSON, any number for YAML. */
export function documentsOf(text: string, source: string): readonly unknown[] {
  // No text has this character; quoting such a file in an error would help no one.
  if (text.includes('\0')) throw new ManifestError(`${source}: is a binary file; it must be YAML or JSON`);
  // JSON is also YAML, but the JSON parser is far faster.
  if (/^\s*[{[]/.test(text)) return jsonOrFlowStyle(text, source);
  return yamlOf(text, source);
}

/** YAML in flow style begins like JSON: `{ kind: Pod }`. Large texts are written by programs. */
const flowStyleLengthMax = 1_000_000;

function jsonOrFlowStyle(text: string, source: string): readonly unknown[] {
  try {
    return [jsonOf(text, source)];
  } catch (error) {
    if (text.length > flowStyleLengthMax) throw error;
    try {
      return yamlOf(text, source);
    } catch {
      throw error;
    }
  }
}

function yamlOf(text: string, source: string): readonly unknown[] {
  try {
    // A user's own file may have any length.
    const documents = [...readYamlDocuments(text, Number.POSITIVE_INFINITY)];
    const [duplicate] = documents.flatMap(({ duplicates }) => duplicates);
    if (duplicate !== undefined) throw new YamlSyntaxError(`yaml: ${duplicate}`);
    return documents.map(({ value }) => value).filter((value) => value !== null);
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    const reason = printable(error.message);
    throw new ManifestError(`${source}: is not valid YAML: ${reason}`, { cause: error });
  }
}

/** The parser quotes the text, which may contain terminal escape sequences. */
function printable(text: string): string {
  return text.replaceAll(/[^\P{C}\n]/gu, '\ufffd');
}

function jsonOf(text: string, source: string): unknown {
  try {
    return parseServerJson(text);
  } catch (error) {
    throw new ManifestError(`${source}: is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** The objects of a list, or the object itself. Items of a list of one kind may omit their kind. */
export function objectsIn(value: unknown, where: string): readonly KubeObject[] {
  if (!isRecord(value))
    throw new ManifestError(`${where}: must be a Kubernetes object, as kubectl get -o yaml prints it`);
  const kind = textOf(value.kind);
  if (kind === '') throw new ManifestError(`${where}: kind: is missing; set kind and apiVersion`);
  if (!kind.endsWith('List') || !Array.isArray(value.items)) return [value];
  const itemKind = kind.slice(0, -'List'.length);
  return listOf(value.items as unknown[]).flatMap((item, at) => {
    if (!isRecord(item)) throw new ManifestError(`${where}: items[${at}]: must be a Kubernetes object`);
    const named = itemKind === '' ? item : { kind: itemKind, apiVersion: value.apiVersion, ...item };
    return objectsIn(named, `${where}: items[${at}]`);
  });
}

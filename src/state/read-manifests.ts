import { parseAllDocuments } from 'yaml';
import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';
import { costComplaint } from '../io/yaml/yaml-limits.ts';
import type { Event } from '../kube/api/core.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { apiVersionOf } from '../kube/resource.ts';
import { isRecord, listOf, textOf } from '../kube/wire.ts';
import type { ClusterSnapshot } from './cluster-snapshot.ts';
import { kindResources } from './kind-resources.ts';

/** Something in a file that can't be read; the message names the place. */
export class ManifestError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ManifestError';
  }
}

export interface ReadManifests {
  /** Objects that the snapshot took. */
  readonly objects: number;
  /** Kinds that decisions don't look at, with how many of them there were. */
  readonly ignored: ReadonlyMap<string, number>;
  readonly events: readonly Event[];
}

/**
 * Adds what a text says to a snapshot: YAML of one or many documents or JSON, of objects or lists of them, as `kubectl get` writes them.
 * `source` is what errors call it.
 */
export function readManifests(text: string, source: string, snapshot: ClusterSnapshot): ReadManifests {
  const ignored = new Map<string, number>();
  const events: Event[] = [];
  let objects = 0;
  for (const [at, document] of documentsOf(text, source).entries()) {
    for (const object of objectsIn(document, `${source}, document ${at + 1}`)) {
      const kind = knownKind(object);
      if (kind !== undefined) {
        snapshot.add(kind, inNamespace(kind, object) as never);
        objects += 1;
      } else if (object.kind === 'Event') events.push(object as Event);
      else ignored.set(textOf(object.kind), (ignored.get(textOf(object.kind)) ?? 0) + 1);
    }
  }
  return { objects, ignored, events };
}

function documentsOf(text: string, source: string): readonly unknown[] {
  // Far quicker than reading it as YAML, which it is too.
  if (/^\s*[{[]/.test(text)) return [jsonOf(text, source)];
  // Somebody's own file may be as long as it likes; but where it nests too deeply, the parser would end the process.
  const complaint = costComplaint(text, Number.POSITIVE_INFINITY);
  if (complaint !== undefined)
    throw new ManifestError(`${source}: is not YAML that can be read: ${complaint}`);
  try {
    return parseAllDocuments(text)
      .map((document) => {
        const [error] = document.errors;
        if (error !== undefined) throw error;
        return document.toJS() as unknown;
      })
      .filter((value) => value !== null && value !== undefined);
  } catch (error) {
    // Also what repeats itself by aliases without end.
    const why = printable((error as Error).message);
    throw new ManifestError(`${source}: is not YAML that can be read: ${why}`, { cause: error });
  }
}

/** The parser quotes the text, which may hold anything; a terminal takes some of it for commands. */
function printable(text: string): string {
  return text.replaceAll(/[^\P{C}\n]/gu, '\ufffd');
}

function jsonOf(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ManifestError(`${source}: is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** A list holds objects; those of a list of one kind leave their own kind out. */
function objectsIn(value: unknown, where: string): readonly KubeObject[] {
  if (!isRecord(value))
    throw new ManifestError(`${where}: is not an object; kubectl get -o yaml writes what is read here`);
  const kind = textOf(value.kind);
  if (kind === '')
    throw new ManifestError(`${where}: kind: is missing; every object needs kind and apiVersion`);
  if (!kind.endsWith('List') || !Array.isArray(value.items)) return [value];
  const itemKind = kind.slice(0, -'List'.length);
  return listOf(value.items as unknown[]).flatMap((item, at) => {
    if (!isRecord(item)) throw new ManifestError(`${where}: items[${at}]: is not an object`);
    const named = itemKind === '' ? item : { kind: itemKind, apiVersion: value.apiVersion, ...item };
    return objectsIn(named, `${where}: items[${at}]`);
  });
}

/** Other groups have kinds of the same name: a Knative Service is no Service. */
function knownKind({ kind, apiVersion }: KubeObject): IndexedKind | undefined {
  if (kind === undefined || !Object.hasOwn(kindResources, kind)) return undefined;
  const resource = kindResources[kind as IndexedKind];
  const group = (version: string) => (version.includes('/') ? version.split('/')[0] : '');
  const isSame = apiVersion === undefined || group(apiVersion) === group(apiVersionOf(resource));
  return isSame ? (kind as IndexedKind) : undefined;
}

/** As kubectl would put it there. */
function inNamespace(kind: IndexedKind, object: KubeObject): KubeObject {
  const isPlaced = !kindResources[kind].namespaced || textOf(object.metadata?.namespace) !== '';
  return isPlaced ? object : { ...object, metadata: { ...object.metadata, namespace: 'default' } };
}

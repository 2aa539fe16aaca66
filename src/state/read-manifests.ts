import { parseServerJson } from '../apiserver/schema/json-reader.ts';
import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';
import { readYamlDocuments, YamlSyntaxError } from '../io/yaml/yaml-reader.ts';
import type { Lease } from '../kube/api/coordination.ts';
import type { Event } from '../kube/api/core.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { backingImages } from '../kube/disks/backing-image.ts';
import { diskSchedules } from '../kube/disks/disk-schedule.ts';
import { diskSettings } from '../kube/disks/disk-settings.ts';
import { replicas } from '../kube/disks/replica.ts';
import { storageNodes } from '../kube/disks/storage-node.ts';
import { diskVolumes } from '../kube/disks/volume.ts';
import { apiVersionOf } from '../kube/resource.ts';
import { type DriverCapacity, stowageApiVersion } from '../kube/stowage.ts';
import { isRecord, listOf, textOf } from '../kube/wire.ts';
import type { ClusterSnapshot } from './cluster-snapshot.ts';
import { kindResources } from './kind-resources.ts';

/** A file that can't be read. The message names the file, the document and the field. */
export class ManifestError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ManifestError';
  }
}

export interface ReadManifests {
  /** How many objects were added to the snapshot. */
  readonly objects: number;
  readonly events: readonly Event[];
  readonly leases: readonly Lease[];
  /** Disks and their volumes, which decisions don't use and explanations do. */
  readonly diskKinds: readonly KubeObject[];
  /** PriorityClasses and PodDisruptionBudgets, which predictions use. */
  readonly policies: readonly KubeObject[];
  /** Of kinds that nothing above is made of. */
  readonly others: readonly KubeObject[];
}

/**
 * Adds the objects in a text to a snapshot. The text is JSON, or YAML with one or more documents, of objects or lists, as `kubectl get`
 * prints them. `source` is the name of the text in errors.
 */
export function readManifests(text: string, source: string, snapshot: ClusterSnapshot): ReadManifests {
  const events: Event[] = [];
  const leases: Lease[] = [];
  const diskKinds: KubeObject[] = [];
  const policies: KubeObject[] = [];
  const others: KubeObject[] = [];
  let objects = 0;
  for (const [at, document] of documentsOf(text, source).entries()) {
    for (const object of objectsIn(document, `${source}, document ${at + 1}`)) {
      const kind = indexedKind(object);
      if (kind !== undefined) {
        snapshot.add(kind, withNamespace(kind, object) as never);
        const pools = kind === 'CSIDriver' ? poolsOfDriver(object) : undefined;
        if (pools !== undefined) snapshot.add('DriverCapacity', pools);
        objects += 1;
      } else if (object.kind === 'Event') events.push(object as Event);
      else if (object.kind === 'Lease') {
        leases.push(object as Lease);
        snapshot.addLease(object as Lease);
      } else if (isDiskKind(object)) diskKinds.push(object);
      else if (object.kind === 'PriorityClass' || object.kind === 'PodDisruptionBudget')
        policies.push(object);
      else others.push(object);
    }
  }
  return { objects, events, leases, diskKinds, policies, others };
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
function objectsIn(value: unknown, where: string): readonly KubeObject[] {
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

/**
 * The storage-capacity proposal has the pools in the status of the CSIDriver, where Kubernetes has no such field. A file in that form gives
 * the DriverCapacity of the same name, which has the same fields.
 */
function poolsOfDriver({ metadata, ...rest }: KubeObject): DriverCapacity | undefined {
  const { spec, status } = rest as Pick<DriverCapacity, 'spec' | 'status'>;
  if (!isRecord(status) || !Array.isArray(status.storage) || metadata === undefined) return undefined;
  return {
    apiVersion: stowageApiVersion,
    kind: 'DriverCapacity',
    metadata: { name: metadata.name ?? (metadata as { readonly Name?: string }).Name ?? '' },
    spec: { capacityTracking: isRecord(spec) && spec.capacityTracking === true },
    status,
  };
}

/** Kinds of other API groups may have the same name: a Knative Service is not a core Service. */
function indexedKind({ kind, apiVersion }: KubeObject): IndexedKind | undefined {
  if (kind === undefined || !Object.hasOwn(kindResources, kind)) return undefined;
  const resource = kindResources[kind as IndexedKind];
  const group = (version: string) => (version.includes('/') ? version.split('/')[0] : '');
  const isSame = apiVersion === undefined || group(apiVersion) === group(apiVersionOf(resource));
  return isSame ? (kind as IndexedKind) : undefined;
}

const diskResources = [diskSchedules, storageNodes, diskSettings, diskVolumes, replicas, backingImages];

function isDiskKind({ kind, apiVersion }: KubeObject): boolean {
  return diskResources.some((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion);
}

/** Adds the namespace `default` to a namespaced object without one, as kubectl does. */
function withNamespace(kind: IndexedKind, object: KubeObject): KubeObject {
  const hasNamespace = !kindResources[kind].namespaced || textOf(object.metadata?.namespace) !== '';
  return hasNamespace ? object : { ...object, metadata: { ...object.metadata, namespace: 'default' } };
}

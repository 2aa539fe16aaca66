import type { NodeSelector } from '../api/core.ts';
import type { KubeObject } from '../api/meta.ts';
import { annotations } from '../well-known.ts';
import { isRecord } from '../wire.ts';

export interface NormalisedObject<T extends KubeObject> {
  /** The same object if nothing had to change. */
  readonly object: T;
  /** One sentence per old name, for the author of the object. */
  readonly notices: readonly string[];
}

/**
 * Replaces names from the original volume-topology and storage-capacity design proposals by the current names. If an
 * object has both, the current name has precedence. Objects without old names are returned unchanged and cost only a few
 * property reads.
 */
export function normaliseLegacyNames<T extends KubeObject>(object: T): NormalisedObject<T> {
  if (!usesLegacyNames(object)) return { object, notices: noNotices };
  const notices: string[] = [];
  let result: Loose = object;
  for (const rename of renames) result = rename(result, notices);
  // No rename changes the kind, so the result has the type of the input.
  return { object: result as Loose & T, notices };
}

/**
 * Replaces old names of fields in an object for the API server. Annotations stay as they are: the server stores any
 * annotation, and readers understand the old ones. The kind is that of the request, which a patch need not repeat.
 */
export function renameLegacyFields(object: Loose, { group, kind }: RequestedKind): NormalisedFields {
  if (!usesLegacyFields(object)) return { object, notices: noNotices };
  const notices: string[] = [];
  const named = renameName(object, notices);
  if (group !== 'storage.k8s.io') return { object: named, notices };
  if (kind === 'StorageClass') return { object: renameBindingMode(named, notices), notices };
  if (kind === 'CSIDriver') return { object: renameCapacityTracking({ ...named, kind }, notices), notices };
  return { object: named, notices };
}

export interface RequestedKind {
  readonly group: string;
  readonly kind: string;
}

export interface NormalisedFields {
  /** The same object if nothing had to change. */
  readonly object: Loose;
  readonly notices: readonly string[];
}

type Loose = Readonly<Record<string, unknown>>;
type Rename = (object: Loose, notices: string[]) => Loose;

const renames: readonly Rename[] = [
  renameName,
  renameBindingMode,
  renameCapacityTracking,
  renameSelectedNode,
  moveNodeAffinity,
];

const noNotices: readonly string[] = [];

const alphaSelectedNode = 'volume.alpha.kubernetes.io/selected-node';
const proposedSelectedNode = 'volume.alpha.kubernetes.io/selectedNode';
const alphaNodeAffinity = 'volume.alpha.kubernetes.io/node-affinity';

/** Must be very fast, because it runs for every incoming object. The renames check more exactly. */
function usesLegacyNames(object: unknown): object is Loose {
  if (!isRecord(object)) return false;
  if (usesLegacyFields(object)) return true;
  if (!isRecord(object.metadata)) return false;
  const found = object.metadata.annotations;
  if (!isRecord(found)) return false;
  return (
    found[alphaNodeAffinity] !== undefined ||
    found[alphaSelectedNode] !== undefined ||
    found[proposedSelectedNode] !== undefined
  );
}

function usesLegacyFields({ bindingMode, spec, metadata }: Loose): boolean {
  if (bindingMode !== undefined) return true;
  if (isRecord(spec) && spec.capacityTracking !== undefined) return true;
  return isRecord(metadata) && metadata.Name !== undefined;
}

/** The proposals' examples write `metadata.Name`. */
function renameName(object: Loose, notices: string[]): Loose {
  const { metadata } = object;
  if (!isRecord(metadata) || metadata.Name === undefined) return object;
  return { ...object, metadata: renameField(metadata, ['Name', 'name'], 'metadata.', notices) };
}

function renameBindingMode(object: Loose, notices: string[]): Loose {
  if (object.bindingMode === undefined || !mayBe(object, 'StorageClass')) return object;
  return renameField(object, ['bindingMode', 'volumeBindingMode'], '', notices);
}

/** Our own DriverCapacity has a current field of this name, so the kind must be known here. */
function renameCapacityTracking(object: Loose, notices: string[]): Loose {
  const { kind, spec } = object;
  if (kind !== 'CSIDriver' || !isRecord(spec) || spec.capacityTracking === undefined) return object;
  return { ...object, spec: renameField(spec, ['capacityTracking', 'storageCapacity'], 'spec.', notices) };
}

function renameSelectedNode(object: Loose, notices: string[]): Loose {
  if (!mayBe(object, 'PersistentVolumeClaim')) return object;
  let result = object;
  for (const oldKey of [alphaSelectedNode, proposedSelectedNode]) {
    const { metadata } = result;
    if (!isRecord(metadata) || !isRecord(metadata.annotations)) return result;
    if (metadata.annotations[oldKey] === undefined) continue;
    const renamed = renameField(
      metadata.annotations,
      [oldKey, annotations.selectedNode],
      annotationsField,
      notices,
    );
    result = { ...result, metadata: { ...metadata, annotations: renamed } };
  }
  return result;
}

/**
 * Before volumes had `spec.nodeAffinity`, an annotation contained it as JSON. If it can't be parsed, the location of the
 * volume is unknown, and the volume fits no node: an unplaced pod is better than one without access to its data.
 */
function moveNodeAffinity(object: Loose, notices: string[]): Loose {
  const { metadata, spec } = object;
  if (!mayBe(object, 'PersistentVolume') || !isRecord(metadata) || !isRecord(metadata.annotations))
    return object;
  const { [alphaNodeAffinity]: text, ...rest } = metadata.annotations;
  if (text === undefined) return object;
  const renamed = { ...object, metadata: { ...metadata, annotations: rest } };
  const oldField = `${annotationsField}${alphaNodeAffinity}`;
  if (isRecord(spec) && isRecord(spec.nodeAffinity) && isRecord(spec.nodeAffinity.required)) {
    notices.push(ignoredNotice(oldField, 'spec.nodeAffinity.required'));
    return renamed;
  }
  const affinity = readNodeAffinity(text);
  if (affinity === undefined) {
    notices.push(
      `${oldField}: is not the JSON of a node affinity, so the volume fits no node; write spec.nodeAffinity`,
    );
    return withNodeAffinity(renamed, { nodeSelectorTerms: [] });
  }
  notices.push(renamedNotice(oldField, 'spec.nodeAffinity.required'));
  return affinity.required === undefined ? renamed : withNodeAffinity(renamed, affinity.required);
}

const annotationsField = 'metadata.annotations.';

/** Undefined if the text is not a node affinity. An affinity without requirements allows all nodes. */
function readNodeAffinity(text: unknown): { readonly required: NodeSelector | undefined } | undefined {
  const affinity = parseJson(text);
  if (!isRecord(affinity)) return undefined;
  const required = affinity.requiredDuringSchedulingIgnoredDuringExecution ?? undefined;
  if (required === undefined) return { required };
  // `compileNodeSelector` checks the terms, like those of every other selector.
  return isRecord(required) ? { required: required as NodeSelector } : undefined;
}

function parseJson(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withNodeAffinity(object: Loose, required: NodeSelector): Loose {
  const spec = isRecord(object.spec) ? object.spec : {};
  return { ...object, spec: { ...spec, nodeAffinity: { required } } };
}

function renameField(
  record: Loose,
  [oldName, newName]: readonly [string, string],
  prefix: string,
  notices: string[],
): Loose {
  const { [oldName]: value, ...rest } = record;
  if (rest[newName] !== undefined) {
    notices.push(ignoredNotice(prefix + oldName, prefix + newName));
    return rest;
  }
  notices.push(renamedNotice(prefix + oldName, prefix + newName));
  return { ...rest, [newName]: value };
}

function renamedNotice(oldField: string, newField: string): string {
  return `${oldField}: read as ${newField}, its name today; rename it`;
}

function ignoredNotice(oldField: string, newField: string): string {
  return `${oldField}: ignored, because ${newField} is set too; remove it`;
}

/** Items of a list often have no kind. */
function mayBe(object: Loose, kind: string): boolean {
  return object.kind === undefined || object.kind === kind;
}

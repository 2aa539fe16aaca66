import type { PersistentVolume, VolumeNodeAffinity } from '../../kube/api/core.ts';
import { migrateVolume } from '../../kube/legacy/in-tree-migration.ts';
import { migrateNodeAffinity } from '../../kube/legacy/in-tree-topology.ts';
import { volumeClassName, volumeExistsAtMs, volumeExpandedAtMs, volumeModeOf } from '../../kube/volumes.ts';
import { annotations, multiZoneSeparator, labels as wellKnownLabels } from '../../kube/well-known.ts';
import { textOf } from '../../kube/wire.ts';
import { type Size, zeroSize } from '../size.ts';
import { accessModeBits, unknownModeProblems } from './access-modes.ts';
import { readSize, stringMapOf } from './field-readers.ts';
import { clusterIdentity, type Identity } from './identity.ts';
import type { Interner } from './interner.ts';
import { everyNode, type NodeMatcher } from './node-matcher.ts';
import type { NodeSelectorCache } from './pod-shape/node-selector-cache.ts';
import type { ClassOfPool, DriverPoolsRecord } from './pool-record.ts';
import { type PreferredNodes, readPreferredNodes } from './preferred-nodes.ts';

/** The fields of a PersistentVolume that the engine uses. */
export interface VolumeRecord extends Identity {
  readonly className: string;
  readonly size: Size;
  readonly mode: string;
  readonly attributesClass: string;
  readonly accessModes: number;
  readonly phase: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly claim: ClaimReference | undefined;
  /** The nodes that reach the volume, by its node affinity. */
  readonly nodes: NodeMatcher;
  readonly preferredNodes: readonly PreferredNodes[];
  /** Zone and region labels, for volumes from before node affinity. */
  readonly zones: readonly ZoneLabel[];
  readonly csi: CsiVolume | undefined;
  readonly migrated: MigratedRecord | undefined;
  /** A provisioned volume existed at this time at the latest; undefined if its PersistentVolume does not say. */
  readonly existsAtMs: number | undefined;
  /** The last expansion, if the expander has recorded it. */
  readonly expansion: DoneExpansion | undefined;
  /** The driver deletes the volume before the PersistentVolume goes. */
  readonly isReclaimed: boolean;
  readonly problems: readonly string[];
  /** False if the size can't be read. Such a volume is never a candidate. */
  readonly isUsable: boolean;
}

/** An expansion that the driver has done. */
export interface DoneExpansion {
  /** The size before. */
  readonly from: Size;
  /** The volume had its new size at this time at the latest. */
  readonly atMs: number;
}

export interface ClaimReference {
  readonly claimKey: string;
  readonly uid: string;
}

export interface CsiVolume {
  readonly driver: string;
  readonly handle: string;
}

export interface ZoneLabel {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

/** An in-tree disk that a CSI driver serves on nodes whose CSINode lists the plugin as migrated. There the driver's topology labels apply. */
export interface MigratedRecord extends CsiVolume {
  readonly plugin: string;
  readonly nodes: NodeMatcher;
}

/** Caches that the readers of one index share. */
export interface ReadContext {
  readonly interner: Interner;
  readonly nodeSelectors: NodeSelectorCache;
  /** Whether the zone parameters of classes restrict where their volumes are provisioned. */
  readonly honourZoneParameters: boolean;
  /** The record of a DriverCapacity in the index. */
  readonly knownPools: (objectName: string) => DriverPoolsRecord | undefined;
  /** The record of a StorageClass in the index. */
  readonly classOf: ClassOfPool;
}

export function readVolume(pv: PersistentVolume, context: ReadContext): VolumeRecord {
  const { interner } = context;
  const problems: string[] = [];
  const spec = pv.spec;
  const capacity = readSize(spec?.capacity?.storage, 'spec.capacity.storage');
  if (capacity.kind === 'invalid') problems.push(capacity.problem);
  problems.push(...unknownModeProblems(spec?.accessModes, 'spec.accessModes'));
  const labels = stringMapOf(pv.metadata?.labels);
  const { key, uid, version, isDeleting } = clusterIdentity(pv);
  return {
    key,
    uid,
    version,
    isDeleting,
    className: interner.text(volumeClassName(pv)),
    size: capacity.kind === 'size' ? capacity.size : zeroSize,
    mode: volumeModeOf(pv),
    attributesClass: interner.text(textOf(spec?.volumeAttributesClassName)),
    accessModes: accessModeBits(spec?.accessModes),
    phase: interner.text(textOf(pv.status?.phase)),
    labels,
    claim: readClaimReference(pv),
    nodes: interner.matcher(matcherOfAffinity(spec?.nodeAffinity, context, problems)),
    preferredNodes: readPreferredNodes(
      pv.metadata?.annotations?.[annotations.preferredNodeAffinity],
      problems,
    ),
    zones: readZones(labels),
    csi: readCsi(pv, interner),
    migrated: readMigrated(pv, context, problems),
    existsAtMs: readExistence(pv),
    expansion: readExpansion(pv),
    isReclaimed: spec?.persistentVolumeReclaimPolicy === 'Delete',
    problems,
    isUsable: capacity.kind !== 'invalid',
  };
}

/** A volume that no provisioner has made was never promised. */
function readExistence(volume: PersistentVolume): number | undefined {
  const found = volume.metadata?.annotations;
  const isProvisioned =
    found?.[annotations.provisionedBy] !== undefined || found?.[annotations.volumeCreatedAt] !== undefined;
  return isProvisioned ? volumeExistsAtMs(volume) : undefined;
}

/** Undefined if one of the two annotations is missing or can't be read: they only make a promise survive a restart. */
function readExpansion(volume: PersistentVolume): DoneExpansion | undefined {
  const atMs = volumeExpandedAtMs(volume);
  const from = readSize(volume.metadata?.annotations?.[annotations.volumeExpandedFrom], '');
  return atMs === undefined || from.kind !== 'size' ? undefined : { from: from.size, atMs };
}

function readClaimReference(pv: PersistentVolume): ClaimReference | undefined {
  const reference = pv.spec?.claimRef;
  if (reference === undefined || reference === null) return undefined;
  return { claimKey: `${textOf(reference.namespace)}/${textOf(reference.name)}`, uid: textOf(reference.uid) };
}

function matcherOfAffinity(
  affinity: VolumeNodeAffinity | undefined,
  { nodeSelectors }: ReadContext,
  problems: string[],
): NodeMatcher {
  const required = affinity?.required;
  if (required === undefined || required === null) return everyNode;
  const compiled = nodeSelectors.compile(required, 'spec.nodeAffinity.required');
  problems.push(...compiled.problems);
  return compiled.nodes;
}

/** The labels that state the location of volumes from before node affinity. */
export const zoneLabelKeys = [
  wellKnownLabels.betaZone,
  wellKnownLabels.betaRegion,
  wellKnownLabels.zone,
  wellKnownLabels.region,
];
const noZones: readonly ZoneLabel[] = [];

function readZones(labels: Readonly<Record<string, string>>): readonly ZoneLabel[] {
  const zones = zoneLabelKeys.flatMap((key) =>
    Object.hasOwn(labels, key) ? readZone(key, labels[key]!) : [],
  );
  return zones.length === 0 ? noZones : zones;
}

/** kube-scheduler ignores a label whose list contains an empty zone. */
function readZone(key: string, text: string): ZoneLabel[] {
  const values = new Set(text.split(multiZoneSeparator).map((value) => value.trim()));
  return values.has('') ? [] : [{ key, values }];
}

function readCsi(pv: PersistentVolume, interner: Interner): CsiVolume | undefined {
  const csi = pv.spec?.csi;
  if (csi === undefined || csi === null) return undefined;
  return { driver: interner.text(textOf(csi.driver)), handle: textOf(csi.volumeHandle) };
}

function readMigrated(
  pv: PersistentVolume,
  context: ReadContext,
  problems: string[],
): MigratedRecord | undefined {
  const result = migrateVolume(pv);
  if (result === undefined) return undefined;
  if (!result.ok) {
    problems.push(result.problem);
    return undefined;
  }
  const { plugin, driver, volumeHandle } = result.source;
  const nodes = matcherOfAffinity(migrateNodeAffinity(pv), context, []);
  return { plugin, driver, handle: volumeHandle, nodes: context.interner.matcher(nodes) };
}

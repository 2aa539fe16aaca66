import type { PersistentVolume, VolumeNodeAffinity } from '../../kube/api/core.ts';
import { migrateVolume } from '../../kube/legacy/in-tree-migration.ts';
import { migrateNodeAffinity } from '../../kube/legacy/in-tree-topology.ts';
import { volumeClassName, volumeModeOf } from '../../kube/volumes.ts';
import { annotations, multiZoneSeparator, labels as wellKnownLabels } from '../../kube/well-known.ts';
import { textOf } from '../../kube/wire.ts';
import { type Size, zeroSize } from '../size.ts';
import { accessModeBits, unknownModeProblems } from './access-modes.ts';
import { readSize, stringMapOf } from './field-readers.ts';
import { clusterIdentity, type Identity } from './identity.ts';
import type { Interner } from './interner.ts';
import { everyNode, type NodeMatcher } from './node-matcher.ts';
import type { NodeSelectorCache } from './node-selector-cache.ts';
import { type PreferredNodes, readPreferredNodes } from './preferred-nodes.ts';

/** What the engine keeps of a PersistentVolume. */
export interface VolumeRecord extends Identity {
  readonly className: string;
  readonly size: Size;
  readonly mode: string;
  readonly attributesClass: string;
  readonly accessModes: number;
  readonly phase: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly claim: ClaimReference | undefined;
  /** From where it can be reached, by its node affinity. */
  readonly nodes: NodeMatcher;
  readonly preferredNodes: readonly PreferredNodes[];
  /** Zone and region labels, of volumes older than node affinity. */
  readonly zones: readonly ZoneLabel[];
  readonly csi: CsiVolume | undefined;
  readonly migrated: MigratedRecord | undefined;
  readonly problems: readonly string[];
  /** False if the size can't be read: such a volume is never a candidate. */
  readonly isUsable: boolean;
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

/** An in-tree disk that a CSI driver serves on nodes whose CSINode says so; there, other labels say where it is. */
export interface MigratedRecord extends CsiVolume {
  readonly plugin: string;
  readonly nodes: NodeMatcher;
}

export interface ReadContext {
  readonly interner: Interner;
  readonly nodeSelectors: NodeSelectorCache;
}

export function readVolume(pv: PersistentVolume, reading: ReadContext): VolumeRecord {
  const { interner: interning } = reading;
  const problems: string[] = [];
  const spec = pv.spec;
  const capacity = readSize(spec?.capacity?.storage, 'spec.capacity.storage');
  if (capacity.kind === 'bad') problems.push(capacity.problem);
  problems.push(...unknownModeProblems(spec?.accessModes, 'spec.accessModes'));
  const labels = stringMapOf(pv.metadata?.labels);
  const { key, uid, version, isDeleting } = clusterIdentity(pv);
  return {
    key,
    uid,
    version,
    isDeleting,
    className: interning.text(volumeClassName(pv)),
    size: capacity.kind === 'size' ? capacity.size : zeroSize,
    mode: volumeModeOf(pv),
    attributesClass: interning.text(textOf(spec?.volumeAttributesClassName)),
    accessModes: accessModeBits(spec?.accessModes),
    phase: interning.text(textOf(pv.status?.phase)),
    labels,
    claim: readClaimReference(pv),
    nodes: interning.matcher(matcherOfAffinity(spec?.nodeAffinity, reading, problems)),
    preferredNodes: readPreferredNodes(
      pv.metadata?.annotations?.[annotations.preferredNodeAffinity],
      problems,
    ),
    zones: readZones(labels),
    csi: readCsi(pv, interning),
    migrated: readMigrated(pv, reading, problems),
    problems,
    isUsable: capacity.kind !== 'bad',
  };
}

function readClaimReference(pv: PersistentVolume): ClaimReference | undefined {
  const reference = pv.spec?.claimRef;
  if (reference === undefined || reference === null) return undefined;
  return { claimKey: `${textOf(reference.namespace)}/${textOf(reference.name)}`, uid: textOf(reference.uid) };
}

function matcherOfAffinity(
  affinity: VolumeNodeAffinity | undefined,
  { nodeSelectors: affinities }: ReadContext,
  problems: string[],
): NodeMatcher {
  const required = affinity?.required;
  if (required === undefined || required === null) return everyNode;
  const compiled = affinities.compile(required, 'spec.nodeAffinity.required');
  problems.push(...compiled.problems);
  return compiled.nodes;
}

/** Where a volume older than node affinity says where it is. */
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

/** A list with an empty zone in it is no list: kube-scheduler passes over such a label. */
function readZone(key: string, text: string): ZoneLabel[] {
  const values = new Set(text.split(multiZoneSeparator).map((value) => value.trim()));
  return values.has('') ? [] : [{ key, values }];
}

function readCsi(pv: PersistentVolume, interning: Interner): CsiVolume | undefined {
  const csi = pv.spec?.csi;
  if (csi === undefined || csi === null) return undefined;
  return { driver: interning.text(textOf(csi.driver)), handle: textOf(csi.volumeHandle) };
}

function readMigrated(
  pv: PersistentVolume,
  reading: ReadContext,
  problems: string[],
): MigratedRecord | undefined {
  const result = migrateVolume(pv);
  if (result === undefined) return undefined;
  if (!result.ok) {
    problems.push(result.problem);
    return undefined;
  }
  const { plugin, driver, volumeHandle } = result.source;
  const nodes = matcherOfAffinity(migrateNodeAffinity(pv), reading, []);
  return { plugin, driver, handle: volumeHandle, nodes: reading.interner.matcher(nodes) };
}

/**
 * Volumes from before node affinity state their location by zone and region labels. A node with none of those labels passes. Otherwise it
 * must have the volume's label key, or the stable key for a volume that uses the beta key, with one of the volume's values.
 */
import { labels as wellKnownLabels } from '../../../kube/well-known.ts';
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { everyNode } from '../../records/node-matcher.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { type VolumeRecord, type ZoneLabel, zoneLabelKeys } from '../../records/volume-record.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { type Interest, type PodRefusal, type Prepared, type Rule, skip } from '../framework/rule.ts';
import { podMessage } from '../reasons.ts';
import { isOwnClaimChange } from '../wake-conditions/own-claim.ts';

interface ZonedVolume {
  readonly claim: string;
  readonly volume: VolumeRecord;
}

interface ZoneState {
  readonly volumes: readonly ZonedVolume[];
}

const zoneMismatchBit = 1;

export const volumeZoneRule: Rule<ZoneState> = {
  name: 'VolumeZone',
  reasons: ['ZoneMismatch'],
  prepare,
  filter,
  explain,
  wakes,
  invalidates: (interest, change) => wakes(interest, change) || removesSomething(interest, change),
};

function prepare({ index, pod }: Cycle): Prepared<ZoneState> {
  const missing = missingVolumes(index, pod);
  if (missing.length > 0) return { kind: 'refuse', refusals: missing };
  const volumes = zonedVolumes(index, pod);
  return volumes.length === 0 ? skip : { kind: 'ready', state: { volumes } };
}

/** kube-scheduler's plugin refuses a pod whose volume is missing. Our profile leaves that to the binding rule, which reports more. */
function missingVolumes(index: ClusterIndex, pod: PodRecord): PodRefusal[] {
  if (!index.profile.zonesNeedVolumes) return [];
  return pod.claims.flatMap(({ key, isEphemeral }) => {
    const name = index.claims.get(key)?.volumeName ?? '';
    if (isEphemeral || name === '' || index.volumes.get(name) !== undefined) return [];
    return [
      {
        reason: 'VolumeNotFound',
        claim: key,
        message: podMessage('VolumeNotFound', { volume: name }),
      },
    ];
  });
}

/** Volumes with labels and without node affinity. If the profile follows kube-scheduler, node affinity does not matter. */
function zonedVolumes(index: ClusterIndex, pod: PodRecord): ZonedVolume[] {
  const { affinityReplacesZones, zonesOfEphemeral } = index.profile;
  return pod.claims.flatMap(({ key, isEphemeral }) => {
    if (isEphemeral && !zonesOfEphemeral) return [];
    const volume = index.volumes.get(index.claims.get(key)?.volumeName ?? '');
    if (volume === undefined || volume.zones.length === 0) return [];
    const hasAffinity = volume.nodes.key !== everyNode.key;
    return affinityReplacesZones && hasAffinity ? [] : [{ claim: key, volume }];
  });
}

function filter({ volumes }: ZoneState, cycle: Cycle): void {
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    const labels = cycle.index.nodes.record(node)!.labels;
    if (!volumes.every(({ volume }) => isInZone(volume.zones, labels))) cycle.reject(node, zoneMismatchBit);
  }
}

const stableKeyOf: Readonly<Record<string, string>> = {
  [wellKnownLabels.betaZone]: wellKnownLabels.zone,
  [wellKnownLabels.betaRegion]: wellKnownLabels.region,
};

function isInZone(zones: readonly ZoneLabel[], labels: Readonly<Record<string, string>>): boolean {
  if (!zoneLabelKeys.some((key) => Object.hasOwn(labels, key))) return true;
  return zones.every(({ key, values }) => {
    const value = labels[key] ?? labels[stableKeyOf[key] ?? ''];
    return value !== undefined && values.has(value);
  });
}

function explain({ volumes }: ZoneState, cycle: Cycle, node: number): readonly Finding[] {
  const labels = cycle.index.nodes.record(node)!.labels;
  return volumes
    .filter(({ volume }) => !isInZone(volume.zones, labels))
    .map(({ claim, volume }) => ({
      rule: volumeZoneRule.name,
      reason: 'ZoneMismatch',
      claim,
      candidates: [
        { kind: 'volume', name: volume.key, obstacles: [{ code: 'OtherNode', margin: undefined }] },
      ],
      omitted: 0,
      margin: undefined,
    }));
}

function wakes(interest: Interest, change: ClusterChange): boolean {
  switch (change.kind) {
    case 'Node':
      return (
        change.after !== undefined &&
        (change.before === undefined || zonesDiffer(change.before.labels, change.after.labels))
      );
    case 'PersistentVolumeClaim':
      return isOwnClaimChange(interest, change);
    case 'PersistentVolume':
      return (
        change.after !== undefined &&
        interest.volumeNames.has(change.after.key) &&
        (change.before === undefined || zonesMoved(change.before, change.after))
      );
    case 'StorageClass':
      return (
        change.before === undefined &&
        change.after?.isDelayed === true &&
        interest.classes.has(change.after.key)
      );
    default:
      return false;
  }
}

/** Also true if node affinity replaces the labels. */
function zonesMoved(before: VolumeRecord, after: VolumeRecord): boolean {
  const text = ({ zones, nodes }: VolumeRecord) =>
    [nodes.key, ...zones.map(({ key, values }) => `${key} ${[...values].sort().join(' ')}`)].join('\n');
  return text(before) !== text(after);
}

function removesSomething(interest: Interest, change: ClusterChange): boolean {
  switch (change.kind) {
    case 'Node':
      return change.after === undefined;
    case 'PersistentVolumeClaim':
      return interest.claimKeys.has(change.before?.key ?? '');
    case 'PersistentVolume':
      return interest.volumeNames.has((change.after ?? change.before)!.key);
    case 'StorageClass':
      return change.after === undefined && interest.classes.has(change.before!.key);
    default:
      return false;
  }
}

function zonesDiffer(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): boolean {
  return zoneLabelKeys.some((key) => before[key] !== after[key]);
}

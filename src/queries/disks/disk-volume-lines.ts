import type { DiskState } from '../../engine/disks/disk-state.ts';
import { type ReplicaHealth, replicaHealth } from '../../engine/disks/volumes/replica-health.ts';
import { hadData, volumeRobustness } from '../../engine/disks/volumes/volume-health.ts';
import { getCondition } from '../../kube/conditions.ts';
import type { Replica } from '../../kube/stowage/replica.ts';
import type { DiskVolume } from '../../kube/stowage/volume.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import { claimsOfVolumes } from './claims-of-volumes.ts';
import { diskEntries } from './disk-entries.ts';
import { isEvicted } from './disk-lines.ts';
import type { DiskObjects } from './disk-objects.ts';
import type { DiskEntryLine, DiskVolumeDescription, DiskVolumeLine, ReplicaLine } from './disks-report.ts';
import { compareText, type KnownDisk, knownDisks } from './known-disks.ts';

/** The default in the definition of Volume; an API server always writes it. */
const replicasDefault = 3;

/** Volumes with their replicas and the disks of these. */
export class VolumesOnDisks {
  readonly #objects: DiskObjects;
  readonly #disks: ReadonlyMap<string, KnownDisk>;
  readonly #entries: ReadonlyMap<string, ReadonlyMap<string, DiskEntryLine>>;
  readonly #replicas: ReadonlyMap<string, readonly Replica[]>;
  readonly #claims: ReadonlyMap<string, string>;
  readonly #healthOf: (replica: Replica) => ReplicaHealth;

  constructor(objects: DiskObjects, disks: readonly KnownDisk[] = knownDisks(objects)) {
    this.#objects = objects;
    this.#disks = new Map(disks.flatMap((disk) => (disk.uuid === undefined ? [] : [[disk.uuid, disk]])));
    this.#entries = new Map(
      disks.map((disk) => {
        const own = diskEntries(disk).filter(({ kind }) => kind === 'replica');
        return [disk.uuid ?? '', new Map(own.map((entry) => [entry.name, entry]))];
      }),
    );
    this.#replicas = replicasByVolume(objects);
    this.#claims = claimsOfVolumes(objects);
    this.#healthOf = healthOn(disks);
  }

  /** Replicas by name. */
  get lines(): readonly DiskVolumeLine[] {
    const lines = (this.#objects.volumes ?? []).map((volume) => this.line(volume));
    return lines.toSorted((a, b) => compareText(a.volume, b.volume));
  }

  line(volume: DiskVolume): DiskVolumeLine {
    const name = volume.metadata?.name ?? '';
    const { spec, status } = volume;
    const replicas = this.replicasOf(name);
    const stored = this.#replicas.get(name) ?? [];
    const healths = stored.map(this.#healthOf);
    const replicasWanted = spec?.numberOfReplicas ?? replicasDefault;
    return {
      volume: name,
      claim: this.#claims.get(name),
      sizeBytes: spec?.size ?? 0,
      currentBytes: status?.size,
      replicasWanted,
      replicasPlaced: replicas.filter(
        ({ state, scheduledBytes }) => state !== 'Deleting' && scheduledBytes > 0,
      ).length,
      replicasHealthy: healths.filter((health) => health === 'healthy').length,
      robustness: volumeRobustness(healths, { wanted: replicasWanted, hadData: hadData(volume, stored) }),
      ...allocationOf(volume),
    };
  }

  describe(volume: DiskVolume): DiskVolumeDescription {
    const { spec, status } = volume;
    const { node = 'hard', zone = 'soft', disk = 'soft' } = spec?.antiAffinity ?? {};
    const refused = status?.refusedExpansion;
    const refusing = this.#disks.get(refused?.diskID ?? '');
    return {
      apiVersion: 'stowage.dev/disks/v1',
      kind: 'DiskVolumeDescription',
      ...this.line(volume),
      nodeSelector: listOf(spec?.nodeSelector),
      diskSelector: listOf(spec?.diskSelector),
      antiAffinity: { node, zone, disk },
      backingImage: spec?.backingImage,
      backingImageMessage: imageMessage(volume),
      replicas: this.replicasOf(volume.metadata?.name ?? ''),
      refusedExpansion: refused && {
        sizeBytes: refused.size,
        node: refusing?.nodeName,
        disk: refusing?.name,
        message: refused.message,
        time: refused.time,
      },
      notes: this.#objects.notes,
    };
  }

  replicasOf(volume: string): readonly ReplicaLine[] {
    const lines = (this.#replicas.get(volume) ?? []).map((replica) => this.#replicaLine(replica));
    return lines.toSorted((a, b) => compareText(a.replica, b.replica));
  }

  #replicaLine(replica: Replica): ReplicaLine {
    const { metadata, spec, status } = replica;
    const disk = this.#disks.get(spec?.diskID ?? '');
    const entry = this.#entries.get(spec?.diskID ?? '')?.get(metadata?.name ?? '');
    return {
      replica: metadata?.name ?? '',
      node: spec?.nodeID,
      disk: disk?.name,
      diskUUID: spec?.diskID,
      zone: textOf(disk?.node?.status?.zone) || undefined,
      sizeBytes: spec?.volumeSize ?? 0,
      scheduledBytes: entry?.scheduledBytes ?? 0,
      fileBytes: status?.size,
      state: this.#stateOf(replica, disk, entry),
      message:
        textOf(status?.message) || (disk?.state.kind === 'unknown' ? disk.state.message : entry?.reason),
      missingBytes: entry?.missingBytes,
    };
  }

  /** A problem of its health has precedence. */
  #stateOf(replica: Replica, disk: KnownDisk | undefined, entry: DiskEntryLine | undefined): string {
    const { spec, status } = replica;
    const health = this.#healthOf(replica);
    if (health === 'deleting') return 'Deleting';
    if (health === 'failed' || status?.currentState === 'error') return 'Failed';
    if (spec?.diskID === undefined) return 'Unplaced';
    if (health === 'unreachable') return 'Unreachable';
    if (entry === undefined) return 'Assigned';
    if (entry.state === 'rejected' && entry.scheduledBytes === 0) return 'Rejected';
    if (entry.scheduledBytes === 0) return 'Requested';
    if (disk !== undefined && isEvicted(disk)) return 'Evicting';
    if (status?.currentState === 'running') return 'Running';
    if (status?.currentState === 'starting') return 'Starting';
    return spec.desiredState === 'running' ? 'Granted' : 'Scheduled';
  }
}

export function replicasByVolume({ replicas = [] }: DiskObjects): ReadonlyMap<string, readonly Replica[]> {
  const found = new Map<string, Replica[]>();
  for (const replica of replicas) {
    const volume = textOf(replica.spec?.volumeName);
    const others = found.get(volume);
    if (others === undefined) found.set(volume, [replica]);
    else others.push(replica);
  }
  return found;
}

/** Decides the health of replicas on these disks. A disk that was moved may be known twice: the one that answers counts. */
export function healthOn(disks: Iterable<KnownDisk>): (replica: Replica) => ReplicaHealth {
  const states = new Map<string | undefined, DiskState>();
  for (const { uuid, state } of disks) if (states.get(uuid)?.kind !== 'ready') states.set(uuid, state);
  return (replica) => replicaHealth(replica, states.get(replica.spec?.diskID));
}

function imageMessage({ status }: DiskVolume): string | undefined {
  const found = getCondition(status?.conditions, 'BackingImageReady');
  return found?.status === 'False' ? textOf(found.message) || undefined : undefined;
}

/** The condition DiskAllocation in one word, and its message if that word is another one than Allocated. */
function allocationOf({ metadata, status }: DiskVolume): Pick<DiskVolumeLine, 'state' | 'message'> {
  if (metadata?.deletionTimestamp !== undefined) return { state: 'Deleting' };
  const found = getCondition(status?.conditions, 'DiskAllocation');
  if (found === undefined)
    return {
      state: 'Unknown',
      message: 'no controller has looked at it; check that the controller disks runs',
    };
  if (found.status === 'True') return { state: 'Allocated' };
  return { state: textOf(found.reason) || 'Unknown', message: textOf(found.message) || undefined };
}

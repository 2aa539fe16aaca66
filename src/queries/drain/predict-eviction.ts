import type { DiskCandidate } from '../../engine/disks/choose-disk.ts';
import { DiskIndex } from '../../engine/disks/disk-index.ts';
import { type DiskObjectMaps, diskObjectMaps } from '../../engine/disks/disk-objects.ts';
import { withImageDemand } from '../../engine/disks/images/image-demand.ts';
import { ImageEntries } from '../../engine/disks/images/image-entries.ts';
import { ImageUsers } from '../../engine/disks/images/image-users.ts';
import { planImage } from '../../engine/disks/images/plan-image.ts';
import { readImage } from '../../engine/disks/images/read-image.ts';
import { planVolume } from '../../engine/disks/volumes/plan-volume.ts';
import {
  isHealthy,
  type ReplicaView,
  unplacedReplica,
  type VolumeView,
} from '../../engine/disks/volumes/volume-model.ts';
import { volumeView } from '../../engine/disks/volumes/volume-view.ts';
import type { Clock } from '../../runtime/clock.ts';
import { claimsOfVolumes } from '../disks/claims-of-volumes.ts';
import { diskEntries } from '../disks/disk-entries.ts';
import type { DiskObjects } from '../disks/disk-objects.ts';
import { diskLabel, type KnownDisk, knownDisks } from '../disks/known-disks.ts';

/** The outcome of one replica or copy on the disks of a node that is evicted. */
export interface PredictedEviction {
  readonly kind: 'replica' | 'image';
  readonly name: string;
  readonly claim: string | undefined;
  readonly bytes: number;
  readonly from: string;
  /** The disk that gets a new one; undefined if enough others stay, or if no disk fits. */
  readonly to: string | undefined;
  /** Why no disk fits. */
  readonly refusal: string | undefined;
}

/** A volume is planned again after each write; more rounds than these change nothing for a new replica. */
const roundsMax = 4;

/**
 * Where the replicas and copies on the disks of a node go if the node is evicted, by the plans of the controller `disks`. All of them together must fit, so
 * each takes its bytes.
 */
export function predictEviction(
  nodeName: string,
  objects: DiskObjects,
  clock: Clock,
): readonly PredictedEviction[] {
  return new EvictionPrediction(nodeName, objects, clock).all();
}

class EvictionPrediction {
  readonly #nodeName: string;
  readonly #objects: DiskObjects;
  readonly #stored: DiskObjectMaps;
  readonly #clock: Clock;
  readonly #diskIndex: DiskIndex;
  readonly #users: ImageUsers;
  readonly #entries: ImageEntries;
  /** The disks, including the requests of the plans so far. */
  readonly #disks: Map<string, DiskCandidate>;
  /** The disks of new replicas, by the disk that they leave. */
  readonly #successors = new Map<string, Set<string>>();

  constructor(nodeName: string, objects: DiskObjects, clock: Clock) {
    this.#nodeName = nodeName;
    this.#objects = objects;
    this.#clock = clock;
    const evicted = objects.nodes.map((node) =>
      node.metadata?.name === nodeName
        ? { ...node, spec: { ...node.spec, allowScheduling: false, evictionRequested: true } }
        : node,
    );
    this.#stored = diskObjectMaps({ ...objects, nodes: evicted });
    this.#diskIndex = DiskIndex.of(this.#stored);
    this.#users = ImageUsers.of(this.#stored);
    this.#entries = ImageEntries.of(this.#stored.schedules);
    this.#disks = new Map(this.#diskIndex.disks.map((disk) => [disk.uuid, disk]));
  }

  all(): readonly PredictedEviction[] {
    const own = knownDisks(this.#objects).filter(({ nodeName }) => nodeName === this.#nodeName);
    const lines = own.flatMap((disk) => diskEntries(disk).map((entry) => ({ disk, entry })));
    const replicas = this.#replicaTargets(
      lines.filter(({ entry }) => entry.kind === 'replica').map(({ entry }) => entry.name),
    );
    const claims = claimsOfVolumes(this.#objects);
    return lines.flatMap(({ disk, entry }): readonly PredictedEviction[] => {
      if (entry.state === 'releasing') return [];
      const bytes = Math.max(entry.requestedBytes, entry.scheduledBytes);
      const from = `disk/${diskLabel(disk)}`;
      const { name, kind } = entry;
      if (kind === 'image') {
        const target = this.#imageTarget(name, disk);
        return target === undefined ? [] : [{ kind, name, claim: undefined, bytes, from, ...target }];
      }
      const target = replicas.get(name);
      const claim = claims.get(this.#stored.replicas.get(name)?.spec?.volumeName ?? '');
      return target === undefined ? [] : [{ kind, name, claim, bytes, from, ...target }];
    });
  }

  // ── Replicas ──

  #replicaTargets(names: readonly string[]): ReadonlyMap<string, EvictionTarget> {
    const volumes = new Set(names.map((name) => this.#stored.replicas.get(name)?.spec?.volumeName ?? ''));
    const targets = new Map<string, EvictionTarget>();
    for (const volume of [...volumes].sort())
      for (const [name, target] of this.#volumeTargets(volume)) targets.set(name, target);
    return targets;
  }

  /** Plans the volume until its new replicas have their bytes. */
  #volumeTargets(name: string): ReadonlyMap<string, EvictionTarget> {
    const volume = this.#stored.volumes.get(name);
    if (volume === undefined) return new Map();
    let view: VolumeView = volumeView(volume, this.#users.replicasOf(name), {
      objects: this.#stored,
      diskIndex: this.#diskIndex,
      nowMs: this.#clock.nowMs(),
      refusedExpansion: undefined,
    });
    let refusal: string | undefined;
    for (let round = 0; round < roundsMax; round += 1) {
      const { images, schedules } = this.#stored;
      const image = images.get(volume.spec?.backingImage ?? '');
      const plan = planVolume(view, withImageDemand(image, [...this.#disks.values()], schedules));
      refusal = plan.allocation.kind === 'waiting-for-disk' ? plan.allocation.message : undefined;
      view = { ...view, replicas: this.#afterSteps(view.replicas, plan.steps) };
    }
    return this.#pairs(view, refusal);
  }

  /** The replicas after these writes, and after their disks have granted what they ask for. */
  #afterSteps(
    replicas: readonly ReplicaView[],
    steps: ReturnType<typeof planVolume>['steps'],
  ): readonly ReplicaView[] {
    const byName = new Map(replicas.map((replica) => [replica.name, replica]));
    for (const step of steps) {
      const known = byName.get(step.replica);
      if (step.kind === 'create') byName.set(step.replica, unplacedReplica(step.replica, step.bytes));
      else if (known === undefined || known.hasData) continue;
      else if (step.kind === 'assign')
        byName.set(step.replica, { ...known, place: { ...step.disk, isEvicted: false } });
      else if (step.kind === 'request') {
        const verdict = { state: 'scheduled', observedSize: step.bytes, scheduledSize: step.bytes } as const;
        byName.set(step.replica, { ...known, entry: { askedBytes: step.bytes, verdict } });
        this.#take(step.diskUUID, step.bytes);
      }
    }
    return [...byName.values()];
  }

  #take(uuid: string, bytes: number): void {
    const disk = this.#disks.get(uuid);
    if (disk !== undefined) this.#disks.set(uuid, { ...disk, demandBytes: disk.demandBytes + bytes });
  }

  /** Each replica that leaves, with a replica that stays and does not have the data yet. */
  #pairs({ replicas }: VolumeView, refusal: string | undefined): ReadonlyMap<string, EvictionTarget> {
    const isLeaving = ({ place }: ReplicaView) => place?.isEvicted === true;
    const coming = replicas.filter((one) => !isLeaving(one) && !isHealthy(one));
    return new Map(
      replicas.filter(isLeaving).map(({ name, place }, at): [string, EvictionTarget] => {
        const next = coming[at]?.place;
        if (next === undefined) return [name, { to: undefined, refusal: coming[at] && refusal }];
        const uuids = this.#successors.get(place!.uuid) ?? new Set();
        this.#successors.set(place!.uuid, uuids.add(next.uuid));
        return [name, { to: this.#label(next.uuid), refusal: undefined }];
      }),
    );
  }

  #label(uuid: string): string {
    const disk = this.#disks.get(uuid);
    return disk === undefined ? `disk/${uuid}` : `disk/${diskLabel(disk)}`;
  }

  // ── Images ──

  /** The copy follows the replicas that need it, or goes where one more is missing. */
  #imageTarget(name: string, from: KnownDisk): EvictionTarget | undefined {
    const image = this.#stored.images.get(name);
    if (image === undefined) return undefined;
    const sources = {
      objects: this.#stored,
      diskIndex: this.#diskIndex,
      users: this.#users,
      entries: this.#entries,
    };
    const view = readImage(image, sources, this.#clock.nowMs());
    const neededOn = new Map(
      [...view.neededOn].flatMap(([uuid, replica]) =>
        [...(this.#successors.get(uuid) ?? [uuid])].map((next) => [next, replica] as const),
      ),
    );
    const { steps, allocation } = planImage({ ...view, neededOn }, [...this.#disks.values()]);
    const [uuid] = steps.flatMap((step) => (step.kind === 'place' ? step.add : []));
    if (uuid !== undefined) {
      this.#take(uuid, view.bytes ?? 0);
      return { to: this.#label(uuid), refusal: undefined };
    }
    const coming = view.copies.find(
      ({ place, isEvicted, state }) => !isEvicted && state !== 'ready' && place.uuid !== from.uuid,
    );
    if (coming !== undefined) return { to: this.#label(coming.place.uuid), refusal: undefined };
    return {
      to: undefined,
      refusal: allocation.kind === 'waiting-for-disk' ? allocation.message : undefined,
    };
  }
}

type EvictionTarget = Pick<PredictedEviction, 'to' | 'refusal'>;

import type { Projected } from '../../cluster/cluster.ts';
import type { DiskCandidate } from '../../engine/disks/choose-disk.ts';
import { DiskIndex } from '../../engine/disks/disk-index.ts';
import { withImageDemand } from '../../engine/disks/images/image-demand.ts';
import { copyBytes } from '../../engine/disks/images/may-make-copy.ts';
import { replaceAfterMs } from '../../engine/disks/volumes/broken-replicas.ts';
import { canGrantExpansion, expansionNeeds } from '../../engine/disks/volumes/expansion-room.ts';
import { planVolume } from '../../engine/disks/volumes/plan-volume.ts';
import type {
  DiskVolumePlan,
  RefusedExpansion,
  VolumeView,
} from '../../engine/disks/volumes/volume-model.ts';
import { VolumeReplicas } from '../../engine/disks/volumes/volume-replicas.ts';
import { volumeStatus } from '../../engine/disks/volumes/volume-status.ts';
import { volumeView } from '../../engine/disks/volumes/volume-view.ts';
import { isEqualWhenStored } from '../../kube/deep-equal.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import type { BackingImage } from '../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import type { Replica } from '../../kube/stowage/replica.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import { type DiskVolume, type DiskVolumeStatus, diskVolumes } from '../../kube/stowage/volume.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { retryIfStale } from '../../reconcile/retry-if-stale.ts';
import { runLoop } from '../../reconcile/run-loop.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { confirmGrants } from './confirm-grants.ts';
import type { DiskCaches } from './disk-caches.ts';
import { followDisks } from './follow-caches.ts';
import { type ExpectedChange, OwnWrites } from './own-writes.ts';
import { reportRobustness } from './report-robustness.ts';
import { RetryState } from './retries/retry-state.ts';
import { type PlannedObjects, VolumeSteps } from './volume-steps.ts';

const workers = 4;

/**
 * Places the replicas of every Volume, and expands them. It decides from stored objects only, and each of its writes can be the last one before a
 * crash: the next plan starts from the stored objects. Keys are names of Volumes.
 */
export class VolumePlacement {
  readonly #context: ControllerContext;
  readonly #caches: DiskCaches;
  readonly #diskIndex: DiskIndex;
  readonly #queue: WorkQueue;
  readonly #replicas: VolumeReplicas;
  /** Own writes that the caches do not show yet. */
  readonly #ownWrites: OwnWrites;
  /** When each volume is planned again. */
  readonly #retry: RetryState;

  constructor(context: ControllerContext, caches: DiskCaches) {
    this.#context = context;
    this.#caches = caches;
    this.#diskIndex = new DiskIndex(caches);
    this.#replicas = new VolumeReplicas(caches.replicas);
    this.#queue = new WorkQueue(context);
    this.#ownWrites = new OwnWrites(context.clock, caches);
    this.#retry = new RetryState(context, this.#queue, this.#diskIndex);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { volumes, schedules, nodes, replicas, images, settings } = this.#caches;
    const loop = {
      controller: 'disks',
      caches: [volumes, schedules, nodes, replicas, images, settings],
      listen: () => this.#listen(),
      queue: this.#queue,
      reconcile: (name: string) => this.#reconcile(name, signal),
      workers,
    };
    await runLoop(this.#context, loop, signal);
  }

  // ── Events ──

  #listen(): readonly (() => void)[] {
    const { volumes, replicas, schedules, images } = this.#caches;
    const volume = ({ metadata }: Projected<DiskVolume>) => this.#queue.add(metadata?.name ?? '');
    return [
      ...followDisks(this.#diskIndex, this.#caches, {
        gained: (change) => this.#retry.diskGained(change),
        // The health of its replicas has changed.
        readinessChanged: ({ disk }) =>
          this.#addVolumesOf(Object.keys(this.#caches.schedules.get(disk.uuid)?.spec?.replicas ?? {})),
        changed: ({ disk }) => this.#retry.diskChanged(disk.uuid),
      }),
      replicas.addHandler({
        added: (replica) => this.#noteReplica(replica),
        updated: (replica) => this.#noteReplica(replica),
        deleted: (replica) => this.#forgetReplica(replica),
      }),
      schedules.addHandler({
        added: (schedule) => this.#verdictsChanged(schedule, {}),
        updated: (schedule, old) => this.#verdictsChanged(schedule, old),
        deleted: (schedule) => this.#verdictsChanged({}, schedule),
      }),
      volumes.addHandler({ added: volume, updated: volume, deleted: volume }),
      images.addHandler({
        updated: (image, old) => {
          if (copyBytes(image) !== copyBytes(old)) this.#addVolumesFrom(image);
        },
      }),
      this.#caches.nodes.addHandler({ updated: (node, old) => this.#nodeChanged(node, old) }),
    ];
  }

  #noteReplica(replica: Projected<Replica>): void {
    this.#replicas.add(replica);
    this.#queue.add(replica.spec?.volumeName ?? '');
  }

  #forgetReplica(replica: Projected<Replica>): void {
    const name = replica.metadata?.name ?? '';
    this.#replicas.delete(replica);
    this.#retry.forgetReplica(name);
    this.#queue.add(replica.spec?.volumeName ?? '');
  }

  /** Wakes the volumes whose own verdicts changed, also if an entry went; images wake no volume. A disk that was moved wakes all of its volumes. */
  #verdictsChanged(schedule: DiskSchedule, old: DiskSchedule): void {
    if (schedule.spec?.nodeID !== old.spec?.nodeID)
      this.#addVolumesOf(Object.keys(schedule.spec?.replicas ?? {}));
    const names = new Set([
      ...Object.keys(schedule.status?.replicas ?? {}),
      ...Object.keys(old.status?.replicas ?? {}),
    ]);
    for (const name of names) {
      const now = ownValue(schedule.status?.replicas, name);
      const before = ownValue(old.status?.replicas, name);
      if (!isEqualWhenStored(now, before)) this.#addVolumesOf([name]);
    }
  }

  #addVolumesOf(replicas: readonly string[]): void {
    for (const name of replicas) {
      const volume = this.#caches.replicas.get(name)?.spec?.volumeName;
      if (volume !== undefined) this.#queue.add(volume);
    }
  }

  /** Disks take no replica of a volume while the size of its image is unknown. */
  #addVolumesFrom({ metadata }: Projected<BackingImage>): void {
    for (const volume of this.#caches.volumes.values())
      if (volume.spec?.backingImage === metadata?.name) this.#queue.add(volume.metadata?.name ?? '');
  }

  /** Eviction may have been requested, of the node or of one of its disks, also of one that it does not report now. */
  #nodeChanged(node: Projected<StorageNode>, old: Projected<StorageNode>): void {
    if (isEqualWhenStored(node.spec, old.spec)) return;
    for (const uuid of this.#diskIndex.affectedBy(node))
      this.#addVolumesOf(Object.keys(this.#caches.schedules.get(uuid)?.spec?.replicas ?? {}));
  }

  // ── One volume ──

  async #reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const volume = this.#caches.volumes.get(name);
    if (volume === undefined || volume.metadata?.deletionTimestamp !== undefined) {
      this.#retry.forget(name);
      this.#clearRequests(name);
      this.#ownWrites.forget(name);
      return undefined;
    }
    // The events of these writes wake the volume again.
    const expectedMs = this.#ownWrites.remainingMs(name);
    if (expectedMs !== undefined) return { afterMs: expectedMs };
    const nowMs = this.#context.clock.nowMs();
    this.#clearRequests(name);
    const disks = this.#ownWrites.addedTo(this.#diskIndex.disks);
    const view = this.#view(volume, disks, nowMs);
    const { images, schedules } = this.#caches;
    const image = images.get(volume.spec?.backingImage ?? '');
    const plan = planVolume(view, withImageDemand(image, disks, schedules));
    const status = volumeStatus(volume, { plan, view }, formatTimestamp(nowMs));
    // This precedes every wait: a disk that changes meanwhile requeues the volume.
    this.#awaitChanges(view, plan);
    if (plan.steps.length > 0 || !isEqualWhenStored(status, volume.status ?? {})) {
      const waitMs = this.#retry.takeWriteMs(name);
      if (waitMs > 0) return { afterMs: waitMs };
      this.#ownWrites.addRequests(name, plan.steps);
      const conflict = await retryIfStale(() => this.#applyPlan(volume, plan, { status, nowMs, signal }));
      if (conflict !== undefined) return conflict;
    }
    return this.#requeueAfter(view, plan);
  }

  async #applyPlan(
    volume: Projected<DiskVolume>,
    plan: DiskVolumePlan,
    { status, nowMs, signal }: StatusAndTime,
  ): Promise<void> {
    const { cluster, events } = this.#context;
    const { name = '', uid, resourceVersion } = volume.metadata ?? {};
    const expect = (change: ExpectedChange, isSeen: () => boolean) =>
      this.#ownWrites.add(name, change, isSeen);
    const planned = this.#plannedObjects(volume, plan);
    const options = {
      cluster,
      planned,
      caches: this.#caches,
      diskIndex: this.#diskIndex,
      events,
      expect,
      nowMs,
      signal,
    };
    const writeStatus = async () => {
      // A merge patch removes only what is null.
      const cleared = {
        refusedExpansion: status.refusedExpansion ?? null,
        faultedAt: status.faultedAt ?? null,
      };
      const body = { metadata: { uid, resourceVersion }, status: { ...status, ...cleared } };
      const written = await cluster
        .resource(diskVolumes)
        .patch({ name }, { type: 'merge', body }, { subresource: 'status', signal });
      expect('version', () => this.#caches.volumes.get(name)?.metadata?.resourceVersion !== resourceVersion);
      reportRobustness(events, { volume, status, replicas: [...this.#replicas.of(volume)] });
      return written;
    };
    const { expansion } = status;
    const isExpansionStored = isEqualWhenStored(expansion, volume.status?.expansion);
    if (!isExpansionStored && expansion?.state === 'Committed')
      await confirmGrants(cluster, volume, expansion, signal);
    // The request, commit or withdrawal of an expansion is stored before the writes that follow from it.
    const current = isExpansionStored ? volume : await writeStatus();
    const steps = new VolumeSteps(current, options);
    for (const step of plan.steps) await steps.run(step);
    if (isExpansionStored && !isEqualWhenStored(status, volume.status ?? {})) await writeStatus();
  }

  /** Must be called before anything is waited for. */
  #plannedObjects(volume: Projected<DiskVolume>, { steps }: DiskVolumePlan): PlannedObjects {
    const disks = steps.flatMap((step) => (step.kind === 'withdraw' ? [step.diskUUID] : []));
    const schedules = disks.flatMap((uuid) => {
      const schedule = this.#caches.schedules.get(uuid);
      return schedule === undefined ? [] : [[uuid, schedule] as const];
    });
    const replicas = [...this.#replicas.of(volume)].map((one) => [one.metadata?.name ?? '', one] as const);
    return { replicas: new Map(replicas), schedules: new Map(schedules) };
  }

  #view(volume: Projected<DiskVolume>, disks: readonly DiskCandidate[], nowMs: number): VolumeView {
    const refusedExpansion = storedRefusal(volume);
    const options = {
      objects: this.#caches,
      diskIndex: this.#diskIndex,
      ages: this.#retry,
      nowMs,
      refusedExpansion,
    };
    const view = volumeView(volume, this.#replicas.of(volume), options);
    if (refusedExpansion === undefined) return view;
    const needs = expansionNeeds(view.replicas, refusedExpansion.bytes);
    const byUuid = new Map(disks.map((disk) => [disk.uuid, disk]));
    const mayRetry = needs !== undefined && canGrantExpansion(needs, (uuid) => byUuid.get(uuid));
    return mayRetry ? { ...view, refusedExpansion: undefined } : view;
  }

  /** Requests that were not sent in the end leave bytes for others, and no disk reports that. */
  #clearRequests(name: string): void {
    for (const uuid of this.#ownWrites.clearRequests(name)) this.#retry.diskChanged(uuid);
  }

  #awaitChanges({ name, replicas }: VolumeView, { allocation, refusedExpansion }: DiskVolumePlan): void {
    const hasUnknownDisk = replicas.some(({ place, entry }) => place !== undefined && entry === undefined);
    this.#retry.waitFor(name, {
      diskBytes: allocation.kind === 'waiting-for-disk' ? allocation.bytes : undefined,
      expansion: refusedExpansion && expansionNeeds(replicas, refusedExpansion.bytes),
      isDiskMissing: hasUnknownDisk || allocation.kind === 'disk-removed',
    });
  }

  #requeueAfter({ name: volume, replicas }: VolumeView, { allocation }: DiskVolumePlan): Requeue | undefined {
    const pendingMs = replicas.flatMap(({ name, entry, place }) => {
      const ms = this.#retry.verdictDueMs(name, entry, this.#diskIndex.get(place?.uuid ?? ''));
      return ms === undefined || ms === 0 ? [] : [ms];
    });
    const slowMs = this.#retry.slowRetryMs();
    const waitMs = allocation.kind === 'waiting-for-disk' ? [slowMs] : [];
    const brokenMs = replicas.flatMap(({ brokenMs: ms }) =>
      ms === undefined ? [] : [ms < replaceAfterMs ? replaceAfterMs - ms : slowMs],
    );
    return this.#retry.requeueAfter(volume, [...pendingMs, ...brokenMs, ...waitMs]);
  }
}

interface StatusAndTime {
  readonly status: DiskVolumeStatus;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

function storedRefusal({ status }: Projected<DiskVolume>): RefusedExpansion | undefined {
  const { size, diskID = '', message } = status?.refusedExpansion ?? {};
  return size === undefined || message === undefined ? undefined : { bytes: size, diskUUID: diskID, message };
}

import { diskVolumeSpec, readDiskClass } from '../../../engine/disks/disk-class.ts';
import type { Condition } from '../../../kube/api/meta.ts';
import { isReason } from '../../../kube/api-error.ts';
import { isEqualWhenStored } from '../../../kube/deep-equal.ts';
import { bytesOf } from '../../../kube/quantities/bytes.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { type BackingImage, backingImages } from '../../../kube/stowage/backing-image.ts';
import {
  claimUidKey,
  type DiskVolume,
  type DiskVolumeSpec,
  disksDriver,
  diskVolumes,
} from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { DiskVolumeWait } from '../../disk-volume-wait.ts';
import {
  type ProvisionedAsset,
  type Provisioner,
  type ProvisionRequest,
  type RefusedOutcome,
  refusedOutcome,
  type VolumeCreateOutcome,
  type VolumePlan,
  type VolumePlanOutcome,
} from '../provisioner.ts';
import { refuseUnsupported } from '../unsupported.ts';
import { DiskVolumeRemoval } from './disk-volume-removal.ts';

const name = disksDriver;

/** How long one attempt waits for the verdicts of disks. After it the claim is tried again; the Volume stays, and so do its requests. */
const attemptMs = 10_000;

export interface DisksProvisionerOptions {
  /** Volumes are allocated although no node can mount them. */
  readonly allocationOnly: boolean;
}

interface DiskVolumePlanned extends VolumePlan {
  readonly spec: DiskVolumeSpec & { readonly size: number };
  /** Where to go on if no disk fits: with a selected node, the scheduler chooses again. */
  readonly ifFull: RefusedOutcome['next'];
}

/**
 * Volumes of one or more replicas on the disks of StorageNodes. `create` makes a Volume of the name of the PersistentVolume, and waits until the
 * controller `disks` has allocated all of its replicas; if no disk fits, the Volume is removed again. Every node counts as able to reach it.
 */
export function disksProvisioner(
  context: Pick<ControllerContext, 'cluster' | 'informers' | 'clock'>,
  options: DisksProvisionerOptions,
): Provisioner<DiskVolumePlanned> {
  const wait = new DiskVolumeWait(context);
  const removal = new DiskVolumeRemoval(context, wait);
  const creation = new DiskVolumeCreation(context, wait, removal);
  return {
    name,
    plan: (request, signal) => planDisks(request, context, options, signal),
    create: (plan, signal) => creation.create(plan, signal),
    delete: (asset, signal) => removal.remove(checkedName(asset), asset.claimUid, signal),
  };
}

// ── Plan ──

async function planDisks(
  request: ProvisionRequest,
  { cluster }: Pick<ControllerContext, 'cluster'>,
  { allocationOnly }: DisksProvisionerOptions,
  signal: AbortSignal,
): Promise<VolumePlanOutcome<DiskVolumePlanned>> {
  const { asset, claim, storageClass, selectedNode } = request;
  if (!allocationOnly) return { ...refusedOutcome(noDataPath, 'change'), reason: 'NoDataPath' };
  const unsupported = refuseUnsupported(name, request);
  if (unsupported !== undefined) return { ...unsupported, next: 'change' };
  const parameters = readDiskClass(storageClass.parameters ?? {});
  if (!parameters.ok) return refusedOutcome(parameters.problem, 'change');
  if ((storageClass.allowedTopologies ?? []).length > 0)
    return refusedOutcome(
      'allowedTopologies has no meaning here, every node reaches the volumes; remove it, and use nodeSelector',
      'change',
    );
  const bytes = bytesOf(claim.spec?.resources?.requests?.storage);
  if (bytes < 1n || bytes > BigInt(Number.MAX_SAFE_INTEGER))
    return refusedOutcome(
      `spec.resources.requests.storage: ${bytes} bytes must be from 1 to 2^53 - 1`,
      'change',
    );
  const spec = diskVolumeSpec(parameters.value, Number(bytes));
  const problem = await imageProblem(spec, (image) =>
    undefinedIfNotFound(cluster.resource(backingImages).get({ name: image }, { signal })),
  );
  if (problem !== undefined) return refusedOutcome(problem, 'retry');
  const { fsType } = parameters.value;
  const isFormatted = fsType !== undefined && volumeModeOf(claim) === 'Filesystem';
  const source = { csi: { driver: name, volumeHandle: asset.name, ...(isFormatted ? { fsType } : {}) } };
  const ifFull = selectedNode === undefined ? 'retry' : 'move';
  return { kind: 'planned', plan: { asset, source, spec, ifFull } };
}

const noDataPath =
  'disks.stowage.dev allocates bytes, and has no data path: no kubelet could mount the volume; ' +
  'use another class, or start the provisioner with --allocation-only if another program mounts volumes of this driver';

async function imageProblem(
  { backingImage, size }: DiskVolumeSpec,
  read: (name: string) => Promise<Pick<BackingImage, 'status'> | undefined>,
): Promise<string | undefined> {
  if (backingImage === undefined) return undefined;
  const image = await read(backingImage);
  if (image === undefined)
    return `BackingImage ${backingImage} not found; create it, or remove the parameter backingImage of the class`;
  const imageSize = image.status?.size ?? image.status?.sourceSize ?? 0;
  if (imageSize <= (size ?? 0)) return undefined;
  return `BackingImage ${backingImage} has ${imageSize} bytes, and the claim requests ${size}; request at least as much`;
}

// ── Create ──

class DiskVolumeCreation {
  readonly #context: Pick<ControllerContext, 'cluster' | 'clock'>;
  readonly #wait: DiskVolumeWait;
  readonly #removal: DiskVolumeRemoval;

  constructor(
    context: Pick<ControllerContext, 'cluster' | 'clock'>,
    wait: DiskVolumeWait,
    removal: DiskVolumeRemoval,
  ) {
    this.#context = context;
    this.#wait = wait;
    this.#removal = removal;
  }

  async create(plan: DiskVolumePlanned, signal: AbortSignal): Promise<VolumeCreateOutcome> {
    return await this.#wait.until(
      plan.asset.name,
      {
        maxMs: attemptMs,
        look: (volume) => this.#look(plan, volume, signal),
        timeoutText: (volume) => {
          const { message = 'the controller disks has not looked at it yet' } = allocationOf(volume) ?? {};
          return `Volume ${plan.asset.name} is not allocated yet: ${message}`;
        },
      },
      signal,
    );
  }

  /** The outcome; undefined while the Volume is on its way. */
  async #look(
    plan: DiskVolumePlanned,
    volume: DiskVolume | undefined,
    signal: AbortSignal,
  ): Promise<VolumeCreateOutcome | undefined> {
    const { asset, spec } = plan;
    if (volume === undefined) {
      await this.#createVolume(plan, signal);
      return undefined;
    }
    // Deletes the remains of an earlier attempt first.
    if (volume.metadata?.deletionTimestamp !== undefined) return undefined;
    if (volume.metadata?.annotations?.[claimUidKey] !== asset.claimUid)
      return refusedOutcome(
        `Volume ${asset.name} exists, and was not made for this claim; delete that Volume`,
        'change',
      );
    if (!isEqualWhenStored(volume.spec, spec))
      return refusedOutcome(
        `Volume ${asset.name} exists with another spec than the class and the claim request now`,
        'change',
      );
    const allocation = allocationOf(volume);
    if (allocation?.status === 'True') return { kind: 'created', volume: this.#created(plan) };
    if (allocation?.reason !== 'InsufficientStorage') return undefined;
    // If the Volume has changed since, the deletion is refused and the Volume is reconciled again.
    if (!(await this.#removal.removeVersion(volume, signal))) return undefined;
    return refusedOutcome(allocation.message ?? 'no disk has room', plan.ifFull);
  }

  /** If another process was faster, its Volume is found next. */
  async #createVolume({ asset, spec }: DiskVolumePlanned, signal: AbortSignal): Promise<void> {
    const { namespace, name: claimName } = asset.claim?.metadata ?? {};
    const metadata = {
      name: asset.name,
      annotations: { [claimUidKey]: asset.claimUid, 'stowage.dev/claim': `${namespace}/${claimName}` },
    };
    const body = { apiVersion: apiVersionOf(diskVolumes), kind: 'Volume', metadata, spec };
    try {
      await this.#context.cluster.resource(diskVolumes).create(body, { signal });
    } catch (error) {
      if (!isReason(error, 'AlreadyExists')) throw error;
    }
  }

  #created({ spec, source, asset }: DiskVolumePlanned): VolumePlan {
    const createdAt = new Date(this.#context.clock.nowMs()).toISOString();
    return {
      asset,
      source,
      capacityBytes: BigInt(spec.size),
      annotations: { [annotations.volumeCreatedAt]: createdAt },
    };
  }
}

/** A PersistentVolume that names another Volume was changed by hand, or is not ours. */
function checkedName({ name: assetName, volume }: ProvisionedAsset): string {
  const handle = volume?.spec?.csi?.volumeHandle;
  if (volume !== undefined && handle !== assetName)
    throw new Error(`spec.csi.volumeHandle is ${handle}, not ${assetName}; delete that Volume by hand`);
  return assetName;
}

/** The condition `DiskAllocation`; undefined if it is about an earlier spec, or there is none yet. */
function allocationOf(volume: DiskVolume | undefined): Condition | undefined {
  const { metadata, status } = volume ?? {};
  if (status?.observedGeneration !== Number(metadata?.generation ?? 0)) return undefined;
  return status.conditions?.find(({ type }) => type === 'DiskAllocation');
}

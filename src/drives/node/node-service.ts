import { CsiStatusError } from '../../csi/csi-errors.ts';
import type { CsiServices } from '../../csi/csi-server.ts';
import {
  NodeServiceCapability_RPC_Type,
  VolumeCapability_AccessMode_Mode,
  VolumeHealthErrorType,
  VolumeUsage_Unit,
} from '../../csi/generated/csi.ts';
import { driveNameKey } from '../../kube/stowage/drive.ts';
import { lookUp } from '../../kube/wire.ts';
import type { KeyedQueue } from '../../runtime/keyed-queue.ts';
import { readSizeRange } from '../controller/drive-volume-request.ts';
import type { DriveHost } from '../host/drive-host.ts';
import { UnsafePathError } from '../host/safe-paths.ts';
import type { InlineVolumes } from './inline-volumes.ts';
import type { NodeDrives, NodeVolume } from './node-drives.ts';
import { checkVolumeId, type InlineVolumeRequest, mountOptions, readInlineVolume } from './node-requests.ts';
import type { NodeTopology } from './node-topology.ts';
import type { VolumeData } from './volume-data.ts';
import type { VolumeMounts } from './volume-mounts.ts';

const { STAGE_UNSTAGE_VOLUME, EXPAND_VOLUME, GET_VOLUME_STATS, GET_VOLUME_HEALTH, SINGLE_NODE_MULTI_WRITER } =
  NodeServiceCapability_RPC_Type;

const capabilities = [
  STAGE_UNSTAGE_VOLUME,
  EXPAND_VOLUME,
  GET_VOLUME_STATS,
  GET_VOLUME_HEALTH,
  SINGLE_NODE_MULTI_WRITER,
].map((type) => ({ type: { case: 'rpc' as const, value: { type } } }));

export type NodeMethods = NonNullable<CsiServices['node']>;

export interface NodeServiceOptions {
  readonly nodeName: string;
  readonly topology: NodeTopology;
  readonly host: DriveHost;
  readonly drives: NodeDrives;
  readonly data: VolumeData;
  readonly mounts: VolumeMounts;
  readonly inline: InlineVolumes;
  /** Calls for one volume run one after the other. */
  readonly volumes: KeyedQueue;
  /** Called after a volume was unmounted. */
  readonly onUnmount: (volume: string) => void;
}

/** CSI's node service for volumes on drives. Every method can be repeated, and goes on where a crash ended it. */
export function drivesNodeService(options: NodeServiceOptions): NodeMethods {
  const { nodeName, topology, volumes } = options;
  const calls = new NodeCalls(options);
  const checked = async <R>(volumeId: string, task: () => Promise<R>): Promise<R> => {
    checkVolumeId(volumeId);
    return await withCodes(task);
  };
  const inOrder = <R>(volumeId: string, task: () => Promise<R>): Promise<R> =>
    checked(volumeId, () => volumes.run(volumeId, task));
  return {
    nodeGetCapabilities: async () => ({ capabilities }),
    nodeGetInfo: async () => ({
      nodeId: nodeName,
      accessibleTopology: { segments: await topology.read() },
    }),
    nodeStageVolume: (request) => inOrder(request.volumeId, () => calls.stage(request)),
    nodeUnstageVolume: (request) =>
      inOrder(request.volumeId, () => calls.unmount(request.volumeId, request.stagingTargetPath, false)),
    nodePublishVolume: (request) => inOrder(request.volumeId, () => calls.publish(request)),
    nodeUnpublishVolume: (request) =>
      inOrder(request.volumeId, () => calls.unmount(request.volumeId, request.targetPath, true)),
    nodeExpandVolume: (request) => inOrder(request.volumeId, () => calls.expand(request)),
    // Not one after the other: figures and health must not wait for a drive that does not answer.
    nodeGetVolumeStats: (request) => checked(request.volumeId, () => calls.stats(request)),
    nodeGetVolumeHealth: (request) => checked(request.volumeId, () => calls.health(request)),
  };
}

type Request<Name extends keyof NodeMethods> = Parameters<NonNullable<NodeMethods[Name]>>[0];
type Reply<Name extends keyof NodeMethods> = ReturnType<NonNullable<NodeMethods[Name]>>;

class NodeCalls {
  readonly #options: NodeServiceOptions;

  constructor(options: NodeServiceOptions) {
    this.#options = options;
  }

  async stage(request: Request<'nodeStageVolume'>): Reply<'nodeStageVolume'> {
    const { volumeId, stagingTargetPath, volumeCapability, volumeContext } = request;
    const options = mountOptions(volumeCapability, false).filter((option) => option !== 'ro');
    const placed = await this.#existing(volumeId, lookUp(volumeContext, driveNameKey));
    const { path: source, device } = await this.#options.data.prepare(placed);
    await this.#options.mounts.mount(stagingTargetPath, { volume: volumeId, source, device, options });
    return {};
  }

  async publish(request: Request<'nodePublishVolume'>): Reply<'nodePublishVolume'> {
    const { volumeId, targetPath, volumeCapability, volumeContext, readonly: isReadOnly } = request;
    const options = mountOptions(volumeCapability, isReadOnly);
    const inline = readInlineVolume(volumeContext);
    if (inline === undefined) await this.#checkStaged(request);
    const { source, device } =
      inline === undefined ? await this.#staged(request) : await this.#claimed(volumeId, inline);
    await this.#options.mounts.mount(targetPath, { volume: volumeId, source, device, options });
    return {};
  }

  /** A volume that no ledger has is unmounted like any other: its mount says which volume it is. */
  async unmount(volumeId: string, path: string, isTarget: boolean): Promise<object> {
    const { mounts, inline, onUnmount } = this.#options;
    await mounts.unmount(path, volumeId, { removes: isTarget });
    // After the unmount: a crash in between leaves an entry, and the kubelet repeats the call.
    if (isTarget && (await mounts.of(volumeId)).length === 0) await inline.release(volumeId);
    onUnmount(volumeId);
    return {};
  }

  /** The ledger was written by ControllerExpandVolume; here the limit follows it. */
  async expand(request: Request<'nodeExpandVolume'>): Reply<'nodeExpandVolume'> {
    const { volumeId, volumePath, capacityRange, volumeCapability } = request;
    mountOptions(volumeCapability, false);
    const { requiredBytes = 0, limitBytes } = readSizeRange(capacityRange);
    let placed = await this.#existing(volumeId, undefined);
    if ((await this.#options.mounts.at(volumePath, volumeId)) === undefined)
      throw notAt(volumeId, volumePath);
    if (placed.entry.sizeBytes < requiredBytes) {
      // The new size may not have been delivered yet.
      await this.#options.drives.refresh(placed.record.name);
      placed = await this.#existing(volumeId, placed.record.name);
    }
    const { sizeBytes } = placed.entry;
    if (sizeBytes < requiredBytes || sizeBytes > (limitBytes ?? sizeBytes))
      throw new CsiStatusError(
        'OutOfRange',
        `volume ${volumeId} has ${sizeBytes} bytes in the ledger of drive ${placed.record.name}; ControllerExpandVolume must grow it first`,
      );
    await this.#options.data.prepare(placed);
    return { capacityBytes: BigInt(sizeBytes) };
  }

  async stats({ volumeId, volumePath }: Request<'nodeGetVolumeStats'>): Reply<'nodeGetVolumeStats'> {
    const { mounts, host } = this.#options;
    // No volume is mounted at a path that must not be used, and this call only reads.
    const mount = await mounts.at(volumePath, volumeId).catch(undefinedIfUnsafe);
    if (mount === undefined) throw notAt(volumeId, volumePath);
    const { totalBytes, availableBytes, usedBytes, totalFiles, freeFiles } = await host.usage(mount.path);
    return {
      usage: [
        { unit: VolumeUsage_Unit.BYTES, ...figures(totalBytes, availableBytes, usedBytes) },
        { unit: VolumeUsage_Unit.INODES, ...figures(totalFiles, freeFiles, totalFiles - freeFiles) },
      ],
    };
  }

  /** The problem that the drive's status shows for the volume, also if the request has no path. */
  async health({ volumeId }: Request<'nodeGetVolumeHealth'>): Reply<'nodeGetVolumeHealth'> {
    const { drive, record } = await this.#existing(volumeId, undefined);
    const { state, conditions = [] } = drive.status ?? {};
    const { reason = 'Unknown', message = '' } = conditions.find(({ type }) => type === 'Mounted') ?? {};
    const { INACCESSIBLE, DEGRADED } = VolumeHealthErrorType;
    const isGone = state === 'Lost' || reason === 'InputOutputError';
    const problem = {
      status: isGone ? INACCESSIBLE : DEGRADED,
      reason,
      message: `drive ${record.name}: ${message}`,
    };
    const healthStatuses = state === 'Lost' || state === 'Error' ? [problem] : [];
    return { volumeHealth: { volumeId, healthStatuses } };
  }

  async #checkStaged(request: Request<'nodePublishVolume'>): Promise<void> {
    const { volumeId, stagingTargetPath, volumeContext } = request;
    if (stagingTargetPath === '')
      throw new CsiStatusError(
        'FailedPrecondition',
        'staging_target_path is required: volumes on drives are staged',
      );
    await this.#existing(volumeId, lookUp(volumeContext, driveNameKey));
  }

  async #staged({
    volumeId,
    stagingTargetPath,
    targetPath,
    volumeCapability,
  }: Request<'nodePublishVolume'>): Promise<MountSource> {
    const { mounts } = this.#options;
    const staged = await mounts.at(stagingTargetPath, volumeId);
    if (staged === undefined)
      throw new CsiStatusError(
        'FailedPrecondition',
        `volume ${volumeId} is not staged at ${stagingTargetPath}`,
      );
    const { SINGLE_NODE_SINGLE_WRITER } = VolumeCapability_AccessMode_Mode;
    if (volumeCapability?.accessMode?.mode === SINGLE_NODE_SINGLE_WRITER) {
      const target = await mounts.at(targetPath, volumeId);
      const known = [staged.path, target?.path];
      const other = (await mounts.of(volumeId)).find(({ path }) => !known.includes(path));
      if (other !== undefined)
        throw new CsiStatusError(
          'FailedPrecondition',
          `volume ${volumeId} is in use at ${other.path}, and its access mode permits one pod`,
        );
    }
    return { source: staged.path, device: staged.device };
  }

  async #claimed(volumeId: string, wanted: InlineVolumeRequest): Promise<MountSource> {
    const { inline, data } = this.#options;
    const { path: source, device } = await data.prepare(await inline.claim(volumeId, wanted));
    return { source, device };
  }

  async #existing(volumeId: string, drive: string | undefined): Promise<NodeVolume> {
    const placed = await this.#options.drives.findFresh(volumeId, drive);
    if (placed === undefined || placed.entry.state === 'Releasing')
      throw new CsiStatusError(
        'NotFound',
        `no drive of node ${this.#options.nodeName} has a volume ${volumeId}`,
      );
    return placed;
  }
}

interface MountSource {
  readonly source: string;
  readonly device: string;
}

/** Names and paths of requests that must not be used are the caller's mistake. */
async function withCodes<R>(task: () => Promise<R>): Promise<R> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof UnsafePathError)
      throw new CsiStatusError('InvalidArgument', error.message, { cause: error });
    throw error;
  }
}

function figures(total: number, available: number, used: number) {
  return { total: BigInt(total), available: BigInt(available), used: BigInt(used) };
}

function undefinedIfUnsafe(error: unknown): undefined {
  if (!(error instanceof UnsafePathError)) throw error;
  return undefined;
}

function notAt(volumeId: string, path: string): CsiStatusError {
  return new CsiStatusError('NotFound', `volume ${volumeId} is not mounted at ${path}`);
}

import type { Cluster } from '../../cluster/cluster.ts';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import type { CsiServices } from '../../csi/csi-server.ts';
import { ControllerServiceCapability_RPC_Type } from '../../csi/generated/csi.ts';
import { readDriveClass } from '../../engine/drives/class-parameters.ts';
import { freeOnDrives } from '../../engine/drives/drive-capacity.ts';
import type { Clock } from '../../runtime/clock.ts';
import { KeyedQueue } from '../../runtime/keyed-queue.ts';
import type { Random } from '../../runtime/random.ts';
import { VolumeChanger, volumeNotFound } from './change-volume.ts';
import { VolumeCreator, volumeMessage } from './create-volume.ts';
import type { DriveCache } from './drive-cache.ts';
import { readDriveVolumeRequest, readSizeRange } from './drive-volume-request.ts';
import { DriveWriter } from './drive-writer.ts';
import { capabilityProblem } from './volume-capabilities.ts';
import { type PlacedVolume, VolumeFinder } from './volume-finder.ts';

const {
  CREATE_DELETE_VOLUME,
  LIST_VOLUMES,
  GET_CAPACITY,
  EXPAND_VOLUME,
  GET_VOLUME,
  SINGLE_NODE_MULTI_WRITER,
} = ControllerServiceCapability_RPC_Type;

/** The capabilities of the controller service, equal in every process. */
export const controllerCapabilities = [
  CREATE_DELETE_VOLUME,
  LIST_VOLUMES,
  GET_CAPACITY,
  EXPAND_VOLUME,
  GET_VOLUME,
  SINGLE_NODE_MULTI_WRITER,
].map((type) => ({ type: { case: 'rpc' as const, value: { type } } }));

export interface DrivesControllerOptions {
  /** Its writes fail unless this process leads, if there may be others. */
  readonly cluster: Cluster;
  readonly cache: DriveCache;
  readonly clock: Clock;
  readonly random: Random;
}

type ControllerMethods = NonNullable<CsiServices['controller']>;

/** CSI's controller service for volumes on drives. Calls for one volume run one after the other. */
export function drivesControllerService(options: DrivesControllerOptions): ControllerMethods {
  const { cluster, cache } = options;
  const writer = new DriveWriter(cluster, cache);
  const finder = new VolumeFinder({ ...options, writer });
  const creator = new VolumeCreator({ ...options, writer, finder });
  const changer = new VolumeChanger({ cache, writer, finder });
  const queue = new KeyedQueue();
  const existing = (volume: string): PlacedVolume => {
    const placed = finder.known(volume);
    if (placed === undefined || placed.entry.state === 'Releasing') throw volumeNotFound(volume);
    return placed;
  };
  return {
    controllerGetCapabilities: async () => ({ capabilities: controllerCapabilities }),
    createVolume: async (request, { signal }) => {
      const checked = readDriveVolumeRequest(request);
      return { volume: await queue.run(request.name, () => creator.create(checked, signal)) };
    },
    deleteVolume: async ({ volumeId }) => {
      await queue.run(volumeId, () => changer.delete(volumeId));
      return {};
    },
    controllerExpandVolume: async ({ volumeId, capacityRange, volumeCapability }) => {
      const problem = volumeCapability === undefined ? undefined : capabilityProblem([volumeCapability]);
      if (problem !== undefined) throw new CsiStatusError('InvalidArgument', problem);
      const size = readSizeRange(capacityRange);
      const bytes = await queue.run(volumeId, () => changer.expand(volumeId, size));
      return { capacityBytes: BigInt(bytes), nodeExpansionRequired: true };
    },
    validateVolumeCapabilities: async ({ volumeId, volumeCapabilities, volumeContext, parameters }) => {
      existing(volumeId);
      const driveClass = readDriveClass(parameters);
      const message =
        capabilityProblem(volumeCapabilities) ?? (driveClass.ok ? undefined : driveClass.problem);
      return message === undefined
        ? { confirmed: { volumeCapabilities, volumeContext, parameters } }
        : { message };
    },
    controllerGetVolume: async ({ volumeId }) => ({ volume: volumeMessage(existing(volumeId)), status: {} }),
    listVolumes: async ({ maxEntries, startingToken }) => {
      const { names, nextToken } = pageOf(activeVolumes(cache), maxEntries, startingToken);
      return { entries: names.map((name) => ({ volume: volumeMessage(existing(name)) })), nextToken };
    },
    getCapacity: async ({ volumeCapabilities, parameters, accessibleTopology }) => {
      const driveClass = readDriveClass(parameters);
      if (!driveClass.ok) throw new CsiStatusError('InvalidArgument', driveClass.problem);
      if (capabilityProblem(volumeCapabilities) !== undefined)
        return { availableCapacity: 0n, maximumVolumeSize: 0n };
      const room = freeOnDrives(cache.index, driveClass.value, accessibleTopology?.segments ?? {});
      return { availableCapacity: room.freeBytes, maximumVolumeSize: BigInt(room.largestBytes) };
    },
  };
}

/** Leaves out volumes whose data is being deleted: for users they no longer exist. */
function* activeVolumes({ index }: DriveCache): Generator<string> {
  const seen = new Set<string>();
  for (const { record } of index.values())
    for (const { name, state } of record.volumes) {
      if (state === 'Releasing' || seen.has(name)) continue;
      seen.add(name);
      yield name;
    }
}

/** Distinguishes our tokens from other text. */
const tokenPrefix = 'after:';

interface VolumePage {
  readonly names: readonly string[];
  /** Empty after the last page. */
  readonly nextToken: string;
}

/**
 * One page of the names of volumes, in their order. A token is the last name of its page: volumes that come and go between two pages cause
 * neither gaps nor repetitions.
 */
function pageOf(names: Iterable<string>, maxEntries: number, startingToken: string): VolumePage {
  const after = startingToken === '' ? undefined : nameIn(startingToken);
  const left = [...names].filter((name) => after === undefined || name > after).sort();
  if (maxEntries === 0 || left.length <= maxEntries) return { names: left, nextToken: '' };
  const page = left.slice(0, maxEntries);
  return { names: page, nextToken: Buffer.from(`${tokenPrefix}${page.at(-1)}`).toString('base64url') };
}

function nameIn(token: string): string {
  const text = Buffer.from(token, 'base64url').toString();
  const isOurs = text.startsWith(tokenPrefix) && Buffer.from(text).toString('base64url') === token;
  if (!isOurs)
    throw new CsiStatusError(
      'Aborted',
      `starting_token ${JSON.stringify(token)} is not valid; start without one`,
    );
  return text.slice(tokenPrefix.length);
}

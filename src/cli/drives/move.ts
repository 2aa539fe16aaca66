import type { Cluster } from '../../cluster/cluster.ts';
import type { BlockDevice } from '../../drives/devices/block-device.ts';
import { requestRepairing, writeDriveState } from '../../drives/devices/drive-state.ts';
import { openExclusively } from '../../drives/devices/format-drive.ts';
import { HeldMount } from '../../drives/devices/held-mount.ts';
import { realSystemCommands, SystemCommandError } from '../../drives/devices/system-commands.ts';
import { unmountLeftovers } from '../../drives/devices/temporary-mount.ts';
import { unenforcedQuota } from '../../drives/host/project-quota.ts';
import { VolumeDirectories } from '../../drives/host/volume-directories.ts';
import { quotaSupport, XfsProjectQuota } from '../../drives/host/xfs-quota.ts';
import { moveObstacle } from '../../drives/move/move-obstacle.ts';
import { MoveError, moveVolumes } from '../../drives/move/move-volumes.ts';
import { differenceFromDevice } from '../../drives/move/same-tree.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { realClock } from '../../runtime/clock.ts';
import { CliError } from '../errors/cli-error.ts';
import { logForReading } from '../flags/log-flags.ts';
import { printLine } from '../output/print-line.ts';
import { progressOf } from '../output/progress-of.ts';
import { type DrivesFlags, withDrives } from '../source/with-own-kinds.ts';
import { allDevices } from './discover.ts';
import { driveNamed, driveNameIn, drivePrefix } from './named-drives.ts';
import { deviceOf, mountsLeft, repairableDevice } from './repair.ts';

export interface MoveFlags extends DrivesFlags {
  readonly volume?: readonly string[];
}

/** `stowage drives move`: copies volumes of a drive to another drive of this machine, and removes them from the first. */
export async function moveDriveVolumes(from: string, to: string, flags: MoveFlags): Promise<void> {
  const progress = progressOf(logForReading(flags));
  await withDrives(flags, async (cluster) => {
    const job = { source: from, target: to, volumes: flags.volume };
    const onProgress = (text: string) => progress.tell(`moving ${text}`);
    const moved = await moveBetweenDrives(cluster, job, onProgress).finally(() => progress.end());
    for (const volume of moved) printLine(`${volume} moved to ${drivePrefix}${driveNameIn(to)}`);
    if (moved.length === 0)
      process.stdout.write(
        flags.volume === undefined
          ? `${drivePrefix}${driveNameIn(from)} has no volumes\n`
          : `${drivePrefix}${driveNameIn(from)} has none of these volumes\n`,
      );
  });
}

export interface MoveJob {
  readonly source: string;
  readonly target: string;
  /** Undefined: all. */
  readonly volumes: readonly string[] | undefined;
}

/** Moves volumes between two drives of this machine. Returns the names of those that were moved. */
export async function moveBetweenDrives(
  cluster: Cluster,
  job: MoveJob,
  onProgress: (text: string) => void,
): Promise<readonly string[]> {
  const commands = realSystemCommands;
  const [source, target] = [await driveNamed(cluster, job.source), await driveNamed(cluster, job.target)];
  const volumes = job.volumes && new Set(job.volumes);
  const obstacle = moveObstacle(source, target, volumes);
  if (obstacle !== undefined) throw new CliError(obstacle);
  const devices = await allDevices({ commands });
  const from: UnmountedDrive = { drive: source, device: repairableDevice(source, devices) };
  const targetDevice = deviceOf(target, devices);
  return await whileRepairing(cluster, from, async (onExclusive) => {
    const quota = (await quotaSupport()) === 'yes' ? new XfsProjectQuota() : unenforcedQuota;
    const mounting = { commands, clock: realClock, mountOption: quota.mountOption };
    await using sourceMount = await HeldMount.open(from.device, { ...mounting, isShared: false });
    // Pods may use the target. What a call that was stopped has left mounted stays only while one of its processes runs.
    await unmountLeftovers(targetDevice, commands).catch(() => undefined);
    await using targetMount = await HeldMount.open(targetDevice, { ...mounting, isShared: true });
    onExclusive();
    return await moveVolumes(
      { drive: nameOf(source), mount: sourceMount.folder },
      { drive: nameOf(target), mount: targetMount.folder },
      {
        cluster,
        commands,
        directories: new VolumeDirectories(),
        quota,
        compareCopy: differenceFromDevice,
        onProgress,
        volumes,
      },
    );
  });
}

interface UnmountedDrive {
  readonly drive: Drive;
  readonly device: BlockDevice;
}

/**
 * The state Repairing keeps pods, new volumes and the node service away from the source. It is removed at the end, also after an error that a user
 * has to resolve: each volume is complete on a drive that has its entry. If this process ends meanwhile, or the API server does not answer, it stays:
 * a volume may have two entries then, and another call goes on. It also stays if another process may be at work: a call that finds the drive Repairing
 * ends that state only after it had the device to itself.
 */
async function whileRepairing<T>(
  cluster: Cluster,
  { drive, device }: UnmountedDrive,
  use: (onExclusive: () => void) => Promise<T>,
): Promise<T> {
  let isOurs = await requestRepairing(cluster, drive);
  const giveBack = async () => {
    if (isOurs) await writeDriveState(cluster, drive, null);
  };
  try {
    await requireReleased(device);
    const result = await use(() => {
      isOurs = true;
    });
    await giveBack();
    return result;
  } catch (error) {
    if (error instanceof ApiError)
      throw new CliError(
        `${error.message}; drive ${nameOf(drive)} stays in the state Repairing, so call the command again: it goes on`,
        1,
        { cause: error },
      );
    await giveBack();
    if (error instanceof MoveError || error instanceof SystemCommandError)
      throw new CliError(error.message, 1, { cause: error });
    throw error;
  }
}

async function requireReleased({ name, path }: BlockDevice): Promise<void> {
  const [mount] = await mountsLeft(name);
  if (mount !== undefined)
    throw new CliError(
      `${path} is still mounted at ${mount.mountPoint}; check that stowage csi runs on this node, and that no other stowage move, or a cp that it has started, is at work, then call the command again`,
    );
  await openExclusively(path, realClock);
}

function nameOf({ metadata }: Drive): string {
  return metadata?.name ?? '';
}

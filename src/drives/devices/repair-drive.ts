import type { Cluster } from '../../cluster/cluster.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import type { BlockDevice } from './block-device.ts';
import { writeDriveState } from './drive-state.ts';
import { failureText, type SystemCommands } from './system-commands.ts';

/**
 * - `repaired`: xfs_repair has finished, or found nothing.
 * - `dirty-log`: the filesystem has a log that must be replayed by mounting it, or discarded.
 */
export type RepairOutcome =
  | { readonly kind: 'repaired' }
  /** The node service has not unmounted the drive in time. */
  | { readonly kind: 'mounted' }
  | { readonly kind: 'dirty-log' }
  | { readonly kind: 'failed'; readonly text: string };

export interface RepairOptions {
  readonly cluster: Cluster;
  readonly commands: SystemCommands;
  readonly requireUnused: (path: string) => Promise<void>;
  /** Waits until the node service has unmounted the drive, as its state asks for. False if it took too long. */
  readonly untilUnmounted: () => Promise<boolean>;
  /** Discards a log that can't be replayed: the last writes are lost. */
  readonly discardsLog: boolean;
}

/** The status of xfs_repair for a filesystem with a dirty log. */
const dirtyLogStatus = 2;

/**
 * Repairs the filesystem of a drive. First its state becomes Repairing: the drive gets no volumes, the node service unmounts it, and mounts no
 * volume of it. Afterwards the state is removed, and the node service writes it when it has mounted the drive again; after a failure it is Error.
 * If this process ends meanwhile, the state stays Repairing, and another call goes on.
 */
export async function repairDrive(
  drive: Drive,
  { path }: Pick<BlockDevice, 'path'>,
  options: RepairOptions,
): Promise<RepairOutcome> {
  const { cluster, commands, requireUnused, untilUnmounted, discardsLog } = options;
  const before = drive.status?.state === 'Repairing' ? null : (drive.status?.state ?? null);
  await writeDriveState(cluster, drive, 'Repairing');
  let stateAfter = before;
  try {
    if (!(await untilUnmounted())) return { kind: 'mounted' };
    await requireUnused(path);
    stateAfter = 'Error';
    const outcome = outcomeOf(await commands.run('xfs_repair', [...(discardsLog ? ['-L'] : []), path]));
    if (outcome.kind === 'repaired') stateAfter = null;
    return outcome;
  } finally {
    await writeDriveState(cluster, drive, stateAfter);
  }
}

function outcomeOf(result: Awaited<ReturnType<SystemCommands['run']>>): RepairOutcome {
  if (result.status === 0) return { kind: 'repaired' };
  if (result.status === dirtyLogStatus) return { kind: 'dirty-log' };
  return { kind: 'failed', text: failureText('xfs_repair', result) };
}

import type { Cluster } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import { type Drive, drives } from '../../kube/drive.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import type { BlockDevice } from './block-device.ts';
import { failureText, type SystemCommands } from './system-commands.ts';

/**
 * - `repaired`: xfs_repair has finished, or found nothing.
 * - `dirty-log`: the filesystem has a log that must be replayed by mounting it, or discarded.
 */
export type RepairOutcome =
  | { readonly kind: 'repaired' }
  | { readonly kind: 'dirty-log' }
  | { readonly kind: 'failed'; readonly text: string };

export interface RepairOptions {
  readonly cluster: Cluster;
  readonly commands: SystemCommands;
  readonly requireUnused: (path: string) => Promise<void>;
  /** Discards a log that can't be replayed: the last writes are lost. */
  readonly discardsLog: boolean;
}

/** The status of xfs_repair for a filesystem with a dirty log. */
const dirtyLogStatus = 2;
/** How often a status is written again that another client changes at the same time. */
const attemptsMax = 5;

/**
 * Repairs the filesystem of an unmounted drive. While it runs, the state of the drive is Repairing, so that it gets no volumes. Afterwards the
 * state is removed, and the node service writes it when it has mounted the drive; after a failure it is Error. If this process ends
 * meanwhile, the state stays Repairing, and another call goes on.
 */
export async function repairDrive(
  drive: Drive,
  { path }: Pick<BlockDevice, 'path'>,
  { cluster, commands, requireUnused, discardsLog }: RepairOptions,
): Promise<RepairOutcome> {
  await requireUnused(path);
  await writeState(cluster, drive, 'Repairing');
  let outcome: RepairOutcome = { kind: 'failed', text: 'xfs_repair did not start' };
  try {
    outcome = outcomeOf(await commands.run('xfs_repair', [...(discardsLog ? ['-L'] : []), path]));
    return outcome;
  } finally {
    await writeState(cluster, drive, outcome.kind === 'repaired' ? null : 'Error');
  }
}

function outcomeOf(result: Awaited<ReturnType<SystemCommands['run']>>): RepairOutcome {
  if (result.status === 0) return { kind: 'repaired' };
  if (result.status === dirtyLogStatus) return { kind: 'dirty-log' };
  return { kind: 'failed', text: failureText('xfs_repair', result) };
}

/** Null removes the field. */
async function writeState(cluster: Cluster, drive: Drive, state: string | null): Promise<void> {
  const client = cluster.resource(drives);
  const name = drive.metadata?.name ?? '';
  let current: KubeObject = drive;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const body = withPreconditions(current, { status: { state } });
      await client.patch({ name }, { type: 'merge', body }, { subresource: 'status' });
      return;
    } catch (error) {
      if (!isReason(error, 'Conflict') || attempt === attemptsMax) throw error;
      const now = await client.get({ name });
      // An object of the same name with another uid is another drive.
      if (now.metadata?.uid !== drive.metadata?.uid) throw error;
      current = now;
    }
  }
}

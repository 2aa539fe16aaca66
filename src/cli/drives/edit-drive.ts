import type { Cluster } from '../../cluster/cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { type Drive, drives } from '../../kube/stowage/drive.ts';
import { CliError } from '../errors/cli-error.ts';
import { driveNamed } from './named-drives.ts';

/** How often a change is decided again after another client changed the drive at the same time. */
const attemptsMax = 8;

/**
 * Changes a drive by one versioned write. `decide` sees the current drive and returns a merge patch, or undefined if there is nothing to change; it
 * is called again after a conflict. Returns the drive as it is then.
 */
export async function editDrive(
  cluster: Cluster,
  name: string,
  decide: (drive: Drive) => object | undefined,
): Promise<{ readonly drive: Drive; readonly isChanged: boolean }> {
  for (let attempt = 1; ; attempt += 1) {
    const drive = await driveNamed(cluster, name);
    const change = decide(drive);
    if (change === undefined) return { drive, isChanged: false };
    const key = { name: drive.metadata?.name ?? '' };
    try {
      const body = withPreconditions(drive, change);
      return { drive: await cluster.resource(drives).patch(key, { type: 'merge', body }), isChanged: true };
    } catch (error) {
      if (!isReason(error, 'Conflict')) throw error;
      if (attempt === attemptsMax)
        throw new CliError(`drive ${key.name} keeps changing; call the command again`, 1, { cause: error });
    }
  }
}

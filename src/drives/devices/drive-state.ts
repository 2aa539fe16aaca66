import type { Cluster } from '../../cluster/cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { type Drive, drives } from '../../kube/stowage/drive.ts';

/** How often a state is written again that another client changes at the same time. */
const attemptsMax = 8;

/** Writes `status.state` of this drive, and nothing else. Null removes it: then the node service writes what it sees. */
export async function writeDriveState(cluster: Cluster, drive: Drive, state: string | null): Promise<void> {
  await changeState(cluster, drive, () => state);
}

/** Writes the state Repairing; false if the drive has it already: then another process may be at work on it. */
export async function requestRepairing(cluster: Cluster, drive: Drive): Promise<boolean> {
  return await changeState(cluster, drive, ({ status }) =>
    status?.state === 'Repairing' ? undefined : 'Repairing',
  );
}

/** `decide` sees the current version, again after each conflict; undefined: nothing is written. */
async function changeState(
  cluster: Cluster,
  drive: Drive,
  decide: (current: Drive) => string | null | undefined,
): Promise<boolean> {
  const client = cluster.resource(drives);
  const name = drive.metadata?.name ?? '';
  let current = drive;
  for (let attempt = 1; ; attempt += 1) {
    const state = decide(current);
    if (state === undefined) return false;
    try {
      const body = withPreconditions(current, { status: { state } });
      await client.patch({ name }, { type: 'merge', body }, { subresource: 'status' });
      return true;
    } catch (error) {
      if (!isReason(error, 'Conflict') || attempt === attemptsMax) throw error;
      const now = await client.get({ name });
      // An object of the same name with another uid is another drive.
      if (now.metadata?.uid !== drive.metadata?.uid) throw error;
      current = now;
    }
  }
}

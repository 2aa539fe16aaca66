import type { Cluster } from '../../cluster/cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { type Drive, driveProtectionFinalizer, drives } from '../../kube/stowage/drive.ts';
import { CliError } from '../errors/cli-error.ts';
import { printLine } from '../output/print-line.ts';
import { type DrivesFlags, withDrives } from '../source/with-own-kinds.ts';
import { editDrive } from './edit-drive.ts';
import { driveNameIn, drivePrefix } from './named-drives.ts';

const volumesShownMax = 5;
/** How often the removal starts again after another client changed the drive at the same time. */
const attemptsMax = 8;

/** `stowage drives remove`. */
export async function removeDrives(names: readonly string[], flags: DrivesFlags): Promise<void> {
  await withDrives(flags, async (cluster) => {
    for (const name of names.map(driveNameIn)) {
      await removeDrive(cluster, name);
      printLine(`${drivePrefix}${name} removed`);
    }
  });
}

/**
 * Cordons an empty drive, and deletes the object at exactly that version: a volume that is put on the drive in between makes the deletion fail. If
 * this process ends between the two writes, the drive is cordoned, and another call goes on.
 */
export async function removeDrive(cluster: Cluster, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { drive } = await editDrive(cluster, name, cordonOfEmpty);
    const { uid, resourceVersion } = drive.metadata ?? {};
    try {
      await cluster
        .resource(drives)
        .delete({ name }, { preconditions: { uid: uid!, resourceVersion: resourceVersion! } });
      return;
    } catch (error) {
      if (isReason(error, 'NotFound')) return;
      if (!isReason(error, 'Conflict')) throw error;
      if (attempt === attemptsMax)
        throw new CliError(`drive ${name} keeps changing; it is cordoned, call the command again`, 1, {
          cause: error,
        });
    }
  }
}

/** A finalizer without volumes would keep the object. */
function cordonOfEmpty(drive: Drive): object | undefined {
  requireEmpty(drive);
  const { metadata, spec } = drive;
  const finalizers = metadata?.finalizers ?? [];
  const isProtected = finalizers.includes(driveProtectionFinalizer);
  if (spec?.unschedulable === true && !isProtected) return undefined;
  return {
    ...(isProtected && {
      metadata: { finalizers: finalizers.filter((one) => one !== driveProtectionFinalizer) },
    }),
    spec: { unschedulable: true },
  };
}

function requireEmpty({ metadata, spec, status }: Drive): void {
  const volumes = spec?.volumes ?? [];
  if (volumes.length === 0) return;
  const shown = volumes.slice(0, volumesShownMax).map(({ name, claimRef, state }) => {
    const claim = claimRef ? ` of claim ${claimRef.namespace}/${claimRef.name}` : '';
    return `${name}${claim}${state === 'Releasing' ? ' (its data is being deleted)' : ''}`;
  });
  const more = volumes.length > shown.length ? `, and ${volumes.length - shown.length} more` : '';
  const isDead = status?.state === 'Lost' || status?.state === 'Error';
  const remedy = isDead ? `; if it is dead, run stowage drives forget ${metadata?.name}` : '';
  throw new CliError(
    `drive ${metadata?.name} has volumes: ${shown.join(', ')}${more}; cordon the drive, and delete their claims first${remedy}`,
  );
}

import type { Cluster } from '../../cluster/cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { forceRemovalKey } from '../../kube/stowage/storage-node.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { diskEntries, ownedEntries } from '../../queries/disks/disk-entries.ts';
import { type DiskObjects, readDiskObjects } from '../../queries/disks/disk-objects.ts';
import { healthOn } from '../../queries/disks/disk-volume-lines.ts';
import { type KnownDisk, knownDisks } from '../../queries/disks/known-disks.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { CliError } from '../errors/cli-error.ts';
import { confirm } from '../output/confirm.ts';
import { printLine } from '../output/print-line.ts';
import { type DisksTarget, targetNamed, targetText } from './disk-targets.ts';
import { editStorageNode } from './edit-storage-node.ts';
import { setScheduling } from './scheduling-change.ts';
import { type DisksFlags, withDisks } from './with-disks.ts';

export interface RemoveDiskFlags extends DisksFlags {
  readonly force?: boolean;
  readonly yes?: boolean;
}

type DiskTarget = Extract<DisksTarget, { readonly kind: 'disk' }>;

const namesShownMax = 5;
/** How often a forced removal starts again after another client changed the schedule at the same time. */
const attemptsMax = 8;

/** `stowage disks remove`. */
export async function removeDisk(argument: string, flags: RemoveDiskFlags): Promise<void> {
  await withDisks(flags, async (cluster) => {
    const objects = await readDiskObjects(cluster);
    const target = targetNamed(argument, objects, ['disk']) as DiskTarget;
    if (flags.force === true) {
      requireDead(target.disk);
      const question = printableText(lossText(target, objects));
      // Also for the log of a script.
      if (flags.yes === true) process.stderr.write(`${question.replace(/ Continue\?$/, '')}\n`);
      await confirm(question, flags.yes);
      await forceRemoval(cluster, target.disk);
    }
    await removeFromNode(cluster, target, flags.force === true);
    printLine(`${targetText(target)} removed`);
  });
}

/**
 * Closes the disk for new requests, sees whether it is empty, and takes it out of the StorageNode. A request that arrives between the two writes is
 * rejected, because the disk is closed; so nothing is lost. If this process ends in between, the disk is closed, and another call goes on.
 */
export async function removeFromNode(cluster: Cluster, target: DiskTarget, isForced: boolean): Promise<void> {
  const { nodeName, name } = target.disk;
  if (target.disk.wanted === undefined) return;
  if (!isForced) {
    await setScheduling(cluster, target, { allowScheduling: false });
    requireEmpty(targetNamed(targetText(target), await readDiskObjects(cluster), ['disk']) as DiskTarget);
  }
  await editStorageNode(cluster, nodeName, ({ spec }) =>
    ownValue(spec?.disks, name) === undefined ? undefined : { spec: { disks: { [name]: null } } },
  );
}

function requireEmpty({ disk }: DiskTarget): void {
  const entries = diskEntries(disk);
  if (entries.length === 0) return;
  const shown = entries.slice(0, namesShownMax).map(({ kind, name }) => `${kind} ${name}`);
  const more = entries.length > shown.length ? `, and ${entries.length - shown.length} more` : '';
  const path = `${disk.nodeName}/${disk.name}`;
  throw new CliError(
    `disk ${path} is not empty: ${shown.join(', ')}${more}; move them with stowage disks evict disk/${path} --wait, or give up a disk that is dead with --force`,
  );
}

/** A disk that answers can be emptied without a loss. */
function requireDead({ nodeName, name, state }: KnownDisk): void {
  if (state.kind === 'ready')
    throw new CliError(
      `disk ${nodeName}/${name} answers, so it can't be given up with --force; empty it with stowage disks evict disk/${nodeName}/${name} --wait`,
    );
}

/** The volumes whose data is lost: those without another healthy replica. */
export function lossText(target: DiskTarget, objects: DiskObjects): string {
  const entries = ownedEntries(target.disk, objects);
  const volumes = [
    ...new Set(entries.flatMap(({ kind, volume }) => (kind === 'replica' && volume ? [volume] : []))),
  ];
  const healthOf = healthOn(knownDisks(objects));
  const lost = volumes.filter(
    (volume) =>
      !(objects.replicas ?? []).some(
        (replica) =>
          replica.spec?.volumeName === volume &&
          replica.spec.diskID !== target.disk.uuid &&
          healthOf(replica) === 'healthy',
      ),
  );
  const images = entries.filter(({ kind }) => kind === 'image').length;
  const counted = `${entries.length - images} replicas and ${images} copies of images are on it`;
  const consequence =
    objects.replicas === undefined
      ? 'Replicas could not be read, so nothing is known about other copies of their data.'
      : lost.length === 0
        ? 'Every volume has another healthy replica, on a disk that answers.'
        : `No other healthy replica exists of these volumes, and their data is lost: ${truncatedNames(lost)}.`;
  return `${targetText(target)} is given up: ${counted}. ${consequence} Continue?`;
}

function truncatedNames(names: readonly string[]): string {
  const more = names.length - namesShownMax;
  return `${names.slice(0, namesShownMax).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** Annotates the schedule, so that the controller abandons all data on the disk. A disk that was never reported has no schedule. */
export async function forceRemoval(cluster: Cluster, { uuid }: Pick<KnownDisk, 'uuid'>): Promise<void> {
  if (uuid === undefined) return;
  const client = cluster.resource(diskSchedules);
  for (let attempt = 1; ; attempt += 1) {
    const schedule = await undefinedIfNotFound(client.get({ name: uuid }));
    if (schedule === undefined || schedule.metadata?.annotations?.[forceRemovalKey] === 'true') return;
    const change = { metadata: { annotations: { [forceRemovalKey]: 'true' } } };
    try {
      await client.patch({ name: uuid }, { type: 'merge', body: withPreconditions(schedule, change) });
      return;
    } catch (error) {
      if (isReason(error, 'NotFound')) return;
      if (!isReason(error, 'Conflict')) throw error;
      if (attempt === attemptsMax)
        throw new CliError(`DiskSchedule ${uuid} keeps changing; call the command again`, 1, {
          cause: error,
        });
    }
  }
}

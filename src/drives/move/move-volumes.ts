import type { Cluster } from '../../cluster/cluster.ts';
import { type DriveRecord, promisedBytes, readDrive } from '../../engine/drives/drive-record.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Patch } from '../../kube/api-requests.ts';
import { type DriveVolume, drives } from '../../kube/stowage/drive.ts';
import { claimPatch, removalPatch } from '../controller/ledger-patches.ts';
import { runSuccessfully, type SystemCommands } from '../devices/system-commands.ts';
import type { ProjectQuota } from '../host/project-quota.ts';
import type { VolumeDirectories } from '../host/volume-directories.ts';
import { differenceBetween } from './same-tree.ts';

/** A drive, and where it is mounted for the move. No other process uses the source; pods may use other volumes of the target. */
export interface MoveEnd {
  readonly drive: string;
  readonly mount: string;
}

export interface MoveVolumesOptions {
  readonly cluster: Cluster;
  readonly commands: SystemCommands;
  readonly directories: VolumeDirectories;
  readonly quota: ProjectQuota;
  /** How a new copy is compared with its source. */
  readonly compareCopy: (from: string, copy: string) => Promise<string | undefined>;
  readonly onProgress: (text: string) => void;
  /** Names of the volumes to move; undefined: all. */
  readonly volumes?: ReadonlySet<string> | undefined;
}

/** A problem that a user has to resolve. Nothing is removed then. */
export class MoveError extends Error {}

/** How often an entry is written again after another client changed the drive. */
const attemptsMax = 8;

/** The attributes that cp(1) preserves, also for links; it fails if it cannot. */
const copyFlags = ['-d', '-R', '--preserve=mode,ownership,timestamps,links,xattr', '--reflink=never', '-T'];

/** Moves volumes of a drive, one after the other. Returns their names. The README has the steps and why they are safe. */
export async function moveVolumes(
  source: MoveEnd,
  target: MoveEnd,
  options: MoveVolumesOptions,
): Promise<readonly string[]> {
  const { cluster, directories, onProgress } = options;
  for (const { mount } of [source, target]) await directories.prepare(mount);
  const moved: string[] = [];
  const all = (await recordOf(cluster, source.drive)).volumes;
  const volumes = all.filter(({ name }) => options.volumes?.has(name) ?? true);
  for (const [at, entry] of volumes.entries()) {
    onProgress(`${entry.name} (${at + 1} of ${volumes.length})`);
    await copyVolume(entry, source, target, options);
    await addEntry(entry, target, options);
    await releaseSource(entry, source, options);
    moved.push(entry.name);
  }
  return [...moved, ...(await removeRemains(source, target, options))];
}

/** Afterwards the target has all data of the volume, on the disk. A volume that no pod has used yet has no directory. */
async function copyVolume(
  entry: DriveVolume,
  source: MoveEnd,
  target: MoveEnd,
  options: MoveVolumesOptions,
): Promise<void> {
  const { cluster, directories } = options;
  const { name: volume } = entry;
  const from = await directories.find(source.mount, volume);
  if (from === undefined) return;
  const there = await directories.find(target.mount, volume);
  if (there !== undefined) {
    if ((await differenceBetween(from, there)) === undefined) return;
    const { volumes } = await recordOf(cluster, target.drive);
    if (volumes.some(({ name }) => name === volume)) throw new MoveError(twoVersions(volume, source, target));
    // Without an entry no pod has used it: it is the copy of an earlier call, after which the volume was used again.
    await directories.retire(target.mount, volume);
  }
  try {
    await makeCopy(entry, from, target, options);
  } catch (error) {
    // A copy that cannot be completed, because a device is full or broken, must not keep the bytes.
    await directories.remove(target.mount, volume).catch(() => undefined);
    throw error;
  }
  await directories.finish(target.mount, volume);
}

/** The limit is last: the copy of a full volume may take some more blocks than the volume did. */
async function makeCopy(
  { name: volume, sizeBytes }: DriveVolume,
  from: string,
  { mount }: MoveEnd,
  { commands, directories, quota, compareCopy }: MoveVolumesOptions,
): Promise<void> {
  const path = await directories.begin(mount, volume);
  await quota.assign({ mount, path, volume });
  await runSuccessfully(commands, 'cp', [...copyFlags, from, path]);
  await runSuccessfully(commands, 'sync', ['--file-system', path]);
  const difference = await compareCopy(from, path);
  if (difference !== undefined)
    throw new MoveError(`the copy of ${difference} differs; nothing was removed, call the command again`);
  await quota.limit({ mount, path, volume }, sizeBytes);
}

async function addEntry(
  entry: DriveVolume,
  { drive, mount }: MoveEnd,
  { cluster, directories }: MoveVolumesOptions,
): Promise<void> {
  let isTooFull = false;
  await writeLedger(cluster, drive, (record) => {
    const known = record.volumes.find(({ name }) => name === entry.name);
    if (known === undefined) {
      // The node service serves the target meanwhile: a volume of it may have been expanded during the copy.
      isTooFull = entry.sizeBytes > record.capacityBytes - promisedBytes(record);
      return isTooFull ? undefined : claimPatch(record, entry);
    }
    if (known.sizeBytes !== entry.sizeBytes || known.state === 'Releasing')
      throw new MoveError(
        `volume ${entry.name} has another entry on drive ${drive}; compare the two Drive objects`,
      );
    return undefined;
  });
  if (!isTooFull) return;
  await directories.retire(mount, entry.name);
  await directories.remove(mount, entry.name);
  throw new MoveError(
    `drive ${drive} has too few free bytes by now for volume ${entry.name}, which stays where it is; name another drive`,
  );
}

/**
 * The directory is renamed before the entry is removed. From then on pods may write to the target, which has the only entry, so a later call
 * could not prove by a comparison that the data of the source is old; the name proves it.
 */
async function releaseSource(
  entry: DriveVolume,
  source: MoveEnd,
  options: MoveVolumesOptions,
): Promise<void> {
  const { cluster, directories } = options;
  const isRenamed = (await directories.find(source.mount, entry.name)) !== undefined;
  await directories.retire(source.mount, entry.name);
  try {
    await removeEntry(cluster, source.drive, entry);
  } catch (error) {
    // The entry stays, and with it the data.
    if (isRenamed && error instanceof MoveError) await directories.finish(source.mount, entry.name);
    throw error;
  }
  await removeData(entry.name, source, options);
}

/** Only the entry that was copied: one that is to be deleted by now stays, and so does its data. */
async function removeEntry(cluster: Cluster, drive: string, entry: DriveVolume): Promise<void> {
  await writeLedger(cluster, drive, (record) => {
    const known = record.volumes.find(({ name }) => name === entry.name);
    if (known?.state === 'Releasing' || (known !== undefined && known.sizeBytes !== entry.sizeBytes))
      throw new MoveError(
        `volume ${entry.name} of drive ${drive} was changed meanwhile; call the command again`,
      );
    return known === undefined ? undefined : removalPatch(record, entry.name);
  });
}

/** The limit is lifted while the directory exists, because only its inode says which limit that is. */
async function removeData(
  volume: string,
  { mount }: MoveEnd,
  { directories, quota }: MoveVolumesOptions,
): Promise<void> {
  const path = await directories.retire(mount, volume);
  if (path !== undefined) await quota.lift({ mount, path, volume });
  await directories.remove(mount, volume);
}

/** Data of volumes whose entries an earlier call moved before it ended. It is removed only if the target has the same. */
async function removeRemains(
  source: MoveEnd,
  target: MoveEnd,
  options: MoveVolumesOptions,
): Promise<readonly string[]> {
  const { cluster, directories } = options;
  const owned = new Set((await recordOf(cluster, target.drive)).volumes.map(({ name }) => name));
  const kept = new Set((await recordOf(cluster, source.drive)).volumes.map(({ name }) => name));
  const isMoved = (name: string) => owned.has(name) && !kept.has(name);
  const names = (await directories.names(source.mount)).filter(isMoved);
  for (const name of names) {
    const from = await directories.find(source.mount, name);
    const there = await directories.find(target.mount, name);
    const isSame = from && there && (await differenceBetween(from, there)) === undefined;
    if (!isSame) throw new MoveError(twoVersions(name, source, target));
    await removeData(name, source, options);
  }
  // A removal that was interrupted: it began after the comparison, and some of the data is already deleted.
  const begun = (await directories.remains(source.mount)).filter(isMoved);
  for (const name of begun) await removeData(name, source, options);
  return [...names, ...begun];
}

function twoVersions(volume: string, source: MoveEnd, target: MoveEnd): string {
  return `volume ${volume} has different data on the drives ${source.drive} and ${target.drive}; nothing was removed. Compare volumes/${volume} on both, and remove the one that is not wanted`;
}

async function recordOf(cluster: Cluster, name: string): Promise<DriveRecord> {
  return readDrive(await cluster.resource(drives).get({ name }));
}

/** `decide` sees the current version, again after each conflict. */
async function writeLedger(
  cluster: Cluster,
  name: string,
  decide: (record: DriveRecord) => Patch | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const patch = decide(await recordOf(cluster, name));
    if (patch === undefined) return;
    try {
      await cluster.resource(drives).patch({ name }, patch);
      return;
    } catch (error) {
      if (!isReason(error, 'Conflict') || attempt === attemptsMax) throw error;
    }
  }
}

import { join } from 'node:path';
import { fileSystemReason } from '../../../io/files/file-system-reason.ts';
import type { HostFiles } from './host-files.ts';

/** A disk as it was found. */
export type DiskProbe =
  | {
      readonly kind: 'found';
      readonly uuid: string;
      readonly device: string;
      readonly totalBytes: number;
      readonly freeBytes: number;
      readonly filesystemType: string;
    }
  | { readonly kind: 'problem'; readonly reason: DiskProblem; readonly message: string };

export type DiskProblem =
  | 'PathMissing'
  | 'NotADirectory'
  | 'NotWritable'
  | 'UnreadableIdentity'
  | 'IdentityMissing'
  | 'DiskUUIDChanged'
  | 'DuplicateUUID'
  | 'DuplicateFilesystem'
  | 'UnsupportedDiskType'
  | 'NotAnswering';

export interface DiskProbeInput {
  readonly path: string;
  /** The previous report of this disk. */
  readonly knownUUID: string | undefined;
  /** For a disk that has none yet. */
  readonly newUUID: () => string;
}

const identityName = 'stowage-disk.json';
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Looks at a disk, and gives it a UUID if it has never been used. A disk that was reported before and has no UUID now is not given another
 * one: where a filesystem is not mounted, its mount point is an empty directory.
 */
export async function probeDisk(
  files: HostFiles,
  { path, knownUUID, newUUID }: DiskProbeInput,
): Promise<DiskProbe> {
  const facts = await files.facts(path, true);
  if (facts === undefined)
    return problem('PathMissing', `${path} does not exist; mount the disk there, or make the directory`);
  if (!facts.isFolder) return problem('NotADirectory', `${path} is not a directory`);
  try {
    await files.checkWritable(path);
    const identity = await diskUUIDAt(files, { path, knownUUID, newUUID });
    if (typeof identity !== 'string') return identity;
    if (knownUUID !== undefined && identity !== knownUUID) return uuidChanged(path, identity, knownUUID);
    const { totalBytes, freeBytes, type } = await files.usage(path);
    const filesystemType = filesystemTypes.get(type) ?? `0x${type.toString(16)}`;
    return { kind: 'found', uuid: identity, device: facts.device, totalBytes, freeBytes, filesystemType };
  } catch (error) {
    // Without what follows the comma, which is the name of a temporary file: an equal problem has an equal message.
    const [reason] = fileSystemReason(error).split(', ');
    return problem('NotWritable', `${path} can't be used: ${reason}`);
  }
}

async function diskUUIDAt(
  files: HostFiles,
  { path, knownUUID, newUUID }: DiskProbeInput,
): Promise<string | DiskProbe> {
  const file = join(path, identityName);
  const text = await files.readText(file);
  if (text !== undefined) return uuidIn(file, text);
  if (knownUUID !== undefined)
    return problem(
      'IdentityMissing',
      `${file} is missing, and the disk was ${knownUUID}; is its filesystem mounted? To use ${path} as a new disk, remove the disk from spec.disks and add it again`,
    );
  await files.createText(file, `${JSON.stringify({ diskUUID: newUUID() })}\n`);
  // Another process may have been faster.
  return uuidIn(file, (await files.readText(file)) ?? '');
}

function uuidIn(file: string, text: string): string | DiskProbe {
  try {
    const { diskUUID } = JSON.parse(text) as { readonly diskUUID?: unknown };
    if (typeof diskUUID === 'string' && uuidPattern.test(diskUUID)) return diskUUID;
  } catch {
    // Reported below, like a file that is JSON and has no UUID.
  }
  return problem(
    'UnreadableIdentity',
    `${file} has no valid diskUUID; restore it, or remove it if nothing on the disk is needed`,
  );
}

function uuidChanged(path: string, found: string, known: string): DiskProbe {
  return problem(
    'DiskUUIDChanged',
    `${path} has the disk ${found}, and had ${known}; put that disk back, or remove the disk from spec.disks and add it again`,
  );
}

function problem(reason: DiskProblem, message: string): DiskProbe {
  return { kind: 'problem', reason, message };
}

/** Magic numbers of statfs(2). */
const filesystemTypes: ReadonlyMap<number, string> = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x01021994, 'tmpfs'],
  [0x794c7630, 'overlayfs'],
  [0x2fc12fc1, 'zfs'],
  [0xf2f52010, 'f2fs'],
  [0x6969, 'nfs'],
  [0x65735546, 'fuse'],
  [0x517b, 'smb'],
]);

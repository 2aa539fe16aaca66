import { DataFolder, type DataKind, dataFolderNames, isDataName } from '../files/data-folder.ts';
import type { HostFiles } from '../files/host-files.ts';
import type { AgentDisk } from './agent-disks.ts';

/** The bytes that the directories of a disk occupy. */
export interface DiskUsage {
  /** Bytes on the disk that replicas and copies occupy which the API server has. */
  readonly ownBytes: number;
  /** Folders without such an owner, as paths below the disk. They are reported, and never removed. */
  readonly orphans: readonly string[];
}

/** Whether the object with this uid exists, and has its data on this disk. */
export type IsOwner = (kind: DataKind, name: string, uid: string) => boolean;

const kinds: readonly DataKind[] = ['Replica', 'BackingImage'];

export async function diskUsage(
  files: HostFiles,
  { path: diskPath }: AgentDisk,
  isOwner: IsOwner,
): Promise<DiskUsage> {
  let ownBytes = 0;
  const orphans: string[] = [];
  for (const kind of kinds)
    for (const name of await dataFolderNames(files, { diskPath, kind })) {
      const bytes = isDataName(name)
        ? await ownedBytes(new DataFolder(files, { diskPath, kind, name }), (uid) => isOwner(kind, name, uid))
        : undefined;
      if (bytes === undefined) orphans.push(`${kind === 'Replica' ? 'replicas' : 'images'}/${name}`);
      else ownBytes += bytes;
    }
  return { ownBytes, orphans };
}

/** Undefined if the folder has no owner. */
async function ownedBytes(
  folder: DataFolder,
  isOwner: (uid: string) => boolean,
): Promise<number | undefined> {
  const state = await folder.inspect();
  if (state.kind === 'missing') return 0;
  return state.kind === 'known' && isOwner(state.identity.uid) ? state.occupiedBytes : undefined;
}

import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../kube/wire.ts';

/** The file in the root of every drive that Stowage formatted. */
const driveMarkName = 'stowage-drive.json';

/** Its content. */
export interface DriveMark {
  readonly version: 1;
  /** The node that the drive was formatted for. */
  readonly node: string;
  /** The UUID of the filesystem. */
  readonly uuid: string;
}

/** The contents of the root directory of a filesystem. */
export interface DriveContent {
  /** Undefined if Stowage did not format it, or stopped before it had written the file. */
  readonly mark: DriveMark | undefined;
  readonly isEmpty: boolean;
  /** Volumes whose directories are there, also those that are being deleted. */
  readonly volumes: readonly string[];
}

/** Directories that have volumes, see docs/drives.md. */
const volumeFolders = ['volumes', 'deleted'];

export async function readDriveContent(folder: string): Promise<DriveContent> {
  const names = await readdir(folder);
  const text = names.includes(driveMarkName) ? await readFile(join(folder, driveMarkName), 'utf8') : '';
  const volumes = await Promise.all(
    volumeFolders.filter((name) => names.includes(name)).map((name) => readdir(join(folder, name))),
  );
  return { mark: parseDriveMark(text), isEmpty: names.length === 0, volumes: volumes.flat().toSorted() };
}

/** Synchronizes the file to the disk, so that a drive that is registered afterwards keeps its mark. */
export async function writeDriveMark(folder: string, mark: DriveMark): Promise<void> {
  const file = await open(join(folder, driveMarkName), 'w', 0o644);
  try {
    await file.writeFile(`${JSON.stringify(mark)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

function parseDriveMark(text: string): DriveMark | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || typeof value.node !== 'string' || typeof value.uuid !== 'string')
      return undefined;
    return { version: 1, node: value.node, uuid: value.uuid };
  } catch {
    return undefined;
  }
}

import { readdir, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../../../../io/files/make-directory.ts';
import { readFileIfExists, writePrivateFile } from '../../../../io/files/private-files.ts';
import type { KubeletDirectory } from './kubelet-directory.ts';
import { KubeletPaths } from './kubelet-paths.ts';
import { type PluginVolumeRecord, parsePluginVolumeRecord } from './volume-record.ts';

/** As a kubelet creates them. */
const directoryMode = 0o750;

/** A directory on this machine, in a kubelet's layout. It never deletes recursively: a volume may be mounted below. */
export class FileKubeletDirectory implements KubeletDirectory {
  readonly paths: KubeletPaths;

  constructor(root: string) {
    this.paths = new KubeletPaths(root);
  }

  async load(): Promise<readonly PluginVolumeRecord[]> {
    const { driverFolders } = this.paths;
    const records: PluginVolumeRecord[] = [];
    for (const driver of await foldersIn(driverFolders)) {
      for (const volume of await foldersIn(join(driverFolders, driver))) {
        const text = await readFileIfExists(join(driverFolders, driver, volume, 'vol_data.json'));
        const record = text === undefined ? undefined : parsePluginVolumeRecord(text);
        if (record !== undefined) records.push(record);
      }
    }
    return records;
  }

  async save(record: PluginVolumeRecord): Promise<void> {
    const path = this.paths.recordFile(record.driver, record.volumeHandle);
    await writePrivateFile(path, `${JSON.stringify(record, undefined, 2)}\n`);
  }

  async remove({ driver, volumeHandle }: PluginVolumeRecord): Promise<void> {
    await rm(this.paths.recordFile(driver, volumeHandle), { force: true });
    await removeIfEmpty(this.paths.volumeFolder(driver, volumeHandle));
  }

  async makeDirectory(path: string): Promise<void> {
    makeDirectory(path, directoryMode);
  }

  async removeMountPoint(path: string): Promise<void> {
    await removeOne(path);
    await removeIfEmpty(dirname(path));
  }
}

/** None if there is no such directory. */
async function foldersIn(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (error) {
    if (isCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** A device's path is a file. */
async function removeOne(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return;
    if (!isCode(error, 'ENOTDIR')) throw error;
    await unlink(path);
  }
}

/** Other volumes may use the same directory. */
async function removeIfEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory);
  } catch (error) {
    if (!isCode(error, 'ENOENT') && !isCode(error, 'ENOTEMPTY') && !isCode(error, 'EEXIST')) throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

import type { KubeletPaths } from './kubelet-paths.ts';
import type { PluginVolumeRecord } from './volume-record.ts';

/** The directory of one node: records that survive a crash, and the directories in which drivers mount. */
export interface KubeletDirectory {
  readonly paths: KubeletPaths;
  load(): Promise<readonly PluginVolumeRecord[]>;
  /** Resolves when the record is durable. */
  save(record: PluginVolumeRecord): Promise<void>;
  remove(record: PluginVolumeRecord): Promise<void>;
  makeDirectory(path: string): Promise<void>;
  /** Removes an empty directory or a file if it exists. Rejects if something is still mounted there, or in it. */
  removeMountPoint(path: string): Promise<void>;
}

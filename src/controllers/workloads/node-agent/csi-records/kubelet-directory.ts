import type { KubeletPaths } from './kubelet-paths.ts';
import type { VolumeRecord } from './volume-record.ts';

/** The directory of one node: records that survive a crash, and the directories in which drivers mount. */
export interface KubeletDirectory {
  readonly paths: KubeletPaths;
  load(): Promise<readonly VolumeRecord[]>;
  /** Resolves when the record is durable. */
  save(record: VolumeRecord): Promise<void>;
  remove(record: VolumeRecord): Promise<void>;
  makeDirectory(path: string): Promise<void>;
  /** Removes an empty directory or a file if it exists. Rejects if something is still mounted there, or in it. */
  removeMountPoint(path: string): Promise<void>;
}

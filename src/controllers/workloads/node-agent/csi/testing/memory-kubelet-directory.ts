import type { KubeletDirectory } from '../../csi-records/kubelet-directory.ts';
import { KubeletPaths } from '../../csi-records/kubelet-paths.ts';
import { type PluginVolumeRecord, parsePluginVolumeRecord } from '../../csi-records/volume-record.ts';

/** A node's directory in memory, which survives the agents of a test. */
export class MemoryKubeletDirectory implements KubeletDirectory {
  readonly paths = new KubeletPaths('/kubelet/n1');
  readonly files = new Map<string, string>();
  readonly directories = new Set<string>();
  /** Runs after a record was written or removed; a test that throws here loses the process. */
  afterWrite: (() => void) | undefined;

  async load(): Promise<readonly PluginVolumeRecord[]> {
    return [...this.files.values()].flatMap((text) => parsePluginVolumeRecord(text) ?? []);
  }

  async save(record: PluginVolumeRecord): Promise<void> {
    this.files.set(this.paths.recordFile(record.driver, record.volumeHandle), JSON.stringify(record));
    this.afterWrite?.();
  }

  async remove({ driver, volumeHandle }: PluginVolumeRecord): Promise<void> {
    this.files.delete(this.paths.recordFile(driver, volumeHandle));
    this.afterWrite?.();
  }

  async makeDirectory(path: string): Promise<void> {
    this.directories.add(path);
  }

  async removeMountPoint(path: string): Promise<void> {
    this.directories.delete(path);
  }
}

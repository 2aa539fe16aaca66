import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** The paths that a kubelet uses for volumes of CSI drivers, below the directory of one node. */
export class KubeletPaths {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Where a pod finds the file system of a volume. The driver creates it; its parent exists before. */
  podMount(podUid: string, specName: string): string {
    return join(this.root, 'pods', podUid, 'volumes', 'kubernetes.io~csi', specName, 'mount');
  }

  /** Where a file system is staged. */
  globalMount(driver: string, volumeHandle: string): string {
    return join(this.volumeFolder(driver, volumeHandle), 'globalmount');
  }

  blockStaging(specName: string): string {
    return join(this.#csi, 'volumeDevices', 'staging', specName);
  }

  /** Where a pod finds the device of a volume. */
  blockPublish(podUid: string, specName: string): string {
    return join(this.#csi, 'volumeDevices', 'publish', specName, podUid);
  }

  volumeFolder(driver: string, volumeHandle: string): string {
    return join(this.#csi, driver, createHash('sha256').update(volumeHandle).digest('hex'));
  }

  /** A kubelet keeps what it needs to unstage the volume in this file; here it has the record of the volume. */
  recordFile(driver: string, volumeHandle: string): string {
    return join(this.volumeFolder(driver, volumeHandle), 'vol_data.json');
  }

  /** One folder for each driver, and `volumeDevices`. */
  get #csi(): string {
    return join(this.root, 'plugins', 'kubernetes.io', 'csi');
  }

  get driverFolders(): string {
    return this.#csi;
  }
}

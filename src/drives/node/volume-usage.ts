import type { DriveVolume } from '../../kube/stowage/drive.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { DriveHost } from '../host/drive-host.ts';
import type { NodeDrive } from './node-drives.ts';

/** Volumes of a node that have series, the first by name: two series each. */
const volumesMax = 1000;

const labelNames = ['volume', 'drive', 'namespace', 'claim'];

export interface VolumeUsageOptions {
  readonly host: DriveHost;
  readonly metrics: Metrics;
}

/** Total and used bytes of each volume on the drives of this node, as metrics. The monitor measures a drive each time that it has found it mounted. */
export class VolumeUsage {
  readonly #host: DriveHost;
  readonly #byDrive = new Map<string, readonly MeasuredVolume[]>();

  constructor({ host, metrics }: VolumeUsageOptions) {
    this.#host = host;
    const of = `Of the first ${volumesMax} volumes on drives of a node, by name`;
    const total = metrics.gauge(
      'stowage_drive_volume_total_bytes',
      `${of}: the size in the ledger.`,
      labelNames,
    );
    const used = metrics.gauge(
      'stowage_drive_volume_used_bytes',
      `${of}: the bytes that its files take, measured every half minute; left out if they cannot be measured.`,
      labelNames,
    );
    metrics.beforeRender(() => {
      const named = this.#first();
      total.replace(named.map(({ labels, entry }) => [labels, entry.sizeBytes]));
      used.replace(
        named.flatMap(({ labels, usedBytes }) => (usedBytes === undefined ? [] : [[labels, usedBytes]])),
      );
    });
  }

  /** `mount` is where the drive is mounted; undefined if it is not. */
  async measure({ record }: NodeDrive, mount: string | undefined): Promise<void> {
    const measured: MeasuredVolume[] = [];
    for (const entry of record.volumes) {
      const usedBytes = mount === undefined ? undefined : await this.#usedBytes(mount, entry.name);
      measured.push({ entry, usedBytes, labels: labelsOf(entry, record.name) });
    }
    this.#byDrive.set(record.name, measured);
  }

  /** The Drive does not exist any more. */
  forget(drive: string): void {
    this.#byDrive.delete(drive);
  }

  /** A volume without a directory has not been used yet. Without enforced quota, a directory has the figures of the whole filesystem. */
  async #usedBytes(mount: string, volume: string): Promise<number | undefined> {
    const { directories, quota } = this.#host;
    if (quota.mountOption === undefined) return undefined;
    try {
      const path = await directories.find(mount, volume);
      return path === undefined ? undefined : (await this.#host.usage(path)).usedBytes;
    } catch {
      // The next check of the drive reports the failure.
      return undefined;
    }
  }

  #first(): readonly MeasuredVolume[] {
    const all = [...this.#byDrive.values()].flat();
    return all.sort((a, b) => (a.entry.name < b.entry.name ? -1 : 1)).slice(0, volumesMax);
  }
}

interface MeasuredVolume {
  readonly entry: DriveVolume;
  readonly usedBytes: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** An inline volume has no claim. */
function labelsOf({ name, claimRef, podRef }: DriveVolume, drive: string): MeasuredVolume['labels'] {
  const namespace = claimRef?.namespace ?? podRef?.namespace ?? '';
  return { volume: name, drive, namespace, claim: claimRef?.name ?? '' };
}

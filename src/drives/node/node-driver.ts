import { KeyedQueue } from '../../runtime/keyed-queue.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { DriveHost } from '../host/drive-host.ts';
import { DriveMonitor } from './drive-monitor.ts';
import { DriveMounts } from './drive-mounts.ts';
import { InlineVolumes } from './inline-volumes.ts';
import { NodeDrives, type NodeDrivesOptions } from './node-drives.ts';
import { drivesNodeService, type NodeMethods } from './node-service.ts';
import { NodeTopology, type NodeTopologyOptions } from './node-topology.ts';
import { VolumeData } from './volume-data.ts';
import { VolumeMounts } from './volume-mounts.ts';
import { VolumeReleaser } from './volume-release.ts';
import { VolumeUsage } from './volume-usage.ts';

export interface NodeDriverOptions
  extends Omit<NodeDrivesOptions, 'onError'>,
    Pick<NodeTopologyOptions, 'topologyKeys'> {
  readonly host: DriveHost;
  /** Drives are mounted in it; absolute. */
  readonly drivesRoot: string;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The node service of one node, with the loops beside it. */
export class NodeDriver {
  readonly methods: NodeMethods;
  readonly drives: NodeDrives;
  readonly topology: NodeTopology;
  readonly #monitor: DriveMonitor;
  readonly #releaser: VolumeReleaser;

  constructor(options: NodeDriverOptions) {
    const { host, drivesRoot, nodeName, log } = options;
    const drives = new NodeDrives({ ...options, onError: (error) => log.warn('drives', { error }) });
    const driveMounts = new DriveMounts({ host, drivesRoot });
    const mounts = new VolumeMounts(host, drivesRoot);
    const topology = new NodeTopology(options);
    const usage = new VolumeUsage(options);
    const monitor = new DriveMonitor({ ...options, drives, mounts: driveMounts, topology, usage });
    const data = new VolumeData(host, driveMounts, drives, (drive) => monitor.wake(drive));
    const volumes = new KeyedQueue();
    const inline = new InlineVolumes({ ...options, drives });
    this.drives = drives;
    this.topology = topology;
    this.#monitor = monitor;
    const releaser = new VolumeReleaser({ ...options, drives, data, mounts, volumes });
    this.#releaser = releaser;
    const onUnmount = (volume: string) => releaser.wake(volume);
    this.methods = drivesNodeService({
      nodeName,
      topology,
      host,
      drives,
      data,
      mounts,
      inline,
      volumes,
      onUnmount,
    });
  }

  /** Resolves with true when all drives are mounted, or cannot be, and their status is written; with false if `signal` aborted before. */
  async start(signal: AbortSignal): Promise<boolean> {
    if (!(await this.drives.synced(signal))) return false;
    await this.topology.start();
    await this.#monitor.start(signal);
    this.#releaser.start();
    return !signal.aborted;
  }
}

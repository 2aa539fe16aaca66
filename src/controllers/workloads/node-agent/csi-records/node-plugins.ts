import type { CsiDriverSet, ServedCsiDriver } from '../../../../csi/served-driver.ts';
import type { CSINode } from '../../../../kube/api/storage.ts';
import { annotations } from '../../../../kube/well-known.ts';
import type { KubeletDirectory } from './kubelet-directory.ts';
import { isEmptyRecord, type PluginVolumeRecord } from './volume-record.ts';

/** The CSI node plugins that are configured for one node. */
export interface CsiNodeSource {
  readonly drivers: CsiDriverSet;
  readonly directory: KubeletDirectory;
}

/** The plugins of each simulated node. Key: the name of the node. */
export type CsiNodeSources = ReadonlyMap<string, CsiNodeSource>;

/** The node plugins of simulated nodes, and the records of the volumes that they may have staged or published. */
export class NodePlugins {
  readonly #sources: CsiNodeSources;
  /** Key: the node, then driver and volume handle. */
  readonly #records = new Map<string, Map<string, PluginVolumeRecord>>();

  constructor(sources: CsiNodeSources = new Map()) {
    this.#sources = sources;
    for (const nodeName of sources.keys()) this.#records.set(nodeName, new Map());
  }

  /** Reads the records that an earlier process left. */
  async synced(): Promise<boolean> {
    for (const [nodeName, { directory }] of this.#sources)
      for (const record of await directory.load()) this.#records.get(nodeName)?.set(keyOf(record), record);
    return true;
  }

  get sources(): CsiNodeSources {
    return this.#sources;
  }

  /** Whether the node has node plugins; if so, only their drivers and those that a user listed exist there. */
  isConfigured(nodeName: string): boolean {
    return this.#sources.has(nodeName);
  }

  /** Undefined while the plugin has not answered yet, too. */
  driver(nodeName: string, name: string): ServedCsiDriver | undefined {
    return this.#sources.get(nodeName)?.drivers.get(name);
  }

  /** Whether no plugin of that name can appear without a restart of this process. */
  isUnknown(nodeName: string, name: string): boolean {
    const drivers = this.#sources.get(nodeName)?.drivers;
    if (drivers === undefined) return true;
    return drivers.get(name) === undefined && drivers.isIncomplete !== true;
  }

  record(nodeName: string, driver: string, volumeHandle: string): PluginVolumeRecord | undefined {
    return this.#records.get(nodeName)?.get(`${driver}^${volumeHandle}`);
  }

  records(nodeName: string): readonly PluginVolumeRecord[] {
    return [...(this.#records.get(nodeName)?.values() ?? [])];
  }

  /** From now on the record counts; resolves when it is durable. An empty one is removed. */
  async write(nodeName: string, record: PluginVolumeRecord): Promise<void> {
    const { directory } = this.#sources.get(nodeName) ?? {};
    if (isEmptyRecord(record)) {
      this.#records.get(nodeName)?.delete(keyOf(record));
      await directory?.remove(record);
      return;
    }
    this.#records.get(nodeName)?.set(keyOf(record), record);
    await directory?.save(record);
  }

  /** The names, as in a node's status, of the attachable volumes that plugins of the node may still have staged or published. */
  heldVolumes(nodeName: string): readonly string[] {
    return this.records(nodeName).flatMap((record) =>
      record.isAttachable ? [`kubernetes.io/csi/${keyOf(record)}`] : [],
    );
  }

  /** Whether a plugin may still have a volume published for the pod. Plugins that are no longer configured cannot be asked. */
  hasVolumesOf(nodeName: string, podUid: string): boolean {
    return this.records(nodeName).some(
      ({ driver, pods }) => pods[podUid] !== undefined && !this.isUnknown(nodeName, driver),
    );
  }
}

/** The drivers of the CSINode whose entries come from node plugins of ours. */
export function pluginDriversOf({ metadata }: CSINode): readonly string[] {
  const text = metadata?.annotations?.[annotations.csiNodePlugins] ?? '';
  return text === '' ? [] : text.split(',');
}

function keyOf({ driver, volumeHandle }: PluginVolumeRecord): string {
  return `${driver}^${volumeHandle}`;
}

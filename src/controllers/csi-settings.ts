import type { CapacitySettings } from './capacity-settings.ts';

/** How this process serves CSI drivers. */
export interface CsiSettings {
  /** Where their controller services listen: `unix:///path` each. */
  readonly addresses: readonly string[];
  /** The deadline of each call. */
  readonly timeoutMs: number;
  /** The node whose driver this process serves, if there is one such process for each node; undefined: the driver serves all nodes. */
  readonly nodeName?: string | undefined;
  /** For late binding, CreateVolume gets only the topology of the selected node. */
  readonly strictTopology?: boolean | undefined;
  /** For immediate binding, CreateVolume gets the topology of the cluster; on by default. */
  readonly immediateTopology?: boolean | undefined;
  /** CreateVolume gets the names of claim and volume as parameters. */
  readonly extraCreateMetadata?: boolean | undefined;
  /** The file system of classes that name none; by default the driver chooses. */
  readonly defaultFsType?: string | undefined;
  /** How the drivers' capacity is published, where that differs from the defaults. */
  readonly capacity?: Partial<CapacitySettings> | undefined;
}

import { callTimeoutMs } from '../../../csi/csi-client.ts';
import type { CsiSettings } from '../../csi-settings.ts';

/** How volumes of CSI drivers are created; names and defaults are those of external-provisioner. */
export interface CsiProvisioningSettings {
  readonly timeoutMs: number;
  /** The node of the driver, if each node has its own driver and process. */
  readonly nodeName?: string | undefined;
  /** Late binding: only the topology of the selected node, not that of the cluster. */
  readonly strictTopology: boolean;
  /** Immediate binding without allowed topologies: the topology of the cluster, not none. */
  readonly immediateTopology: boolean;
  /** Names of claim and volume in the parameters. */
  readonly extraCreateMetadata: boolean;
  /** For classes that name no file system; empty if the driver chooses. */
  readonly defaultFsType: string;
}

export function csiProvisioningSettings(settings: CsiSettings | undefined): CsiProvisioningSettings {
  return {
    timeoutMs: settings?.timeoutMs ?? callTimeoutMs,
    nodeName: settings?.nodeName,
    // A driver of one node knows no other topology.
    strictTopology: settings?.nodeName !== undefined || (settings?.strictTopology ?? false),
    immediateTopology: settings?.immediateTopology ?? true,
    extraCreateMetadata: settings?.extraCreateMetadata ?? false,
    defaultFsType: settings?.defaultFsType ?? '',
  };
}

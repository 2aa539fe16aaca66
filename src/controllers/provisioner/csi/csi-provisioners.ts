import { callTimeoutMs } from '../../../csi/csi-client.ts';
import type { CsiDriverSet, ServedCsiDriver } from '../../../csi/served-driver.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { CsiSettings } from '../../csi-settings.ts';
import type { Provisioner } from '../provisioner.ts';
import type { JoiningProvisioners } from '../provisioner-registry.ts';
import type { CsiCaches } from './csi-caches.ts';
import { CsiProvisioner } from './csi-provisioner.ts';

/** How volumes of CSI drivers are created; names and defaults are those of external-provisioner. */
export interface CsiProvisioningSettings {
  readonly timeoutMs: number;
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
    // A driver of one node knows no other topology.
    strictTopology: settings?.nodeName !== undefined || (settings?.strictTopology ?? false),
    immediateTopology: settings?.immediateTopology ?? true,
    extraCreateMetadata: settings?.extraCreateMetadata ?? false,
    defaultFsType: settings?.defaultFsType ?? '',
  };
}

export interface CsiProvisionersOptions {
  readonly drivers: CsiDriverSet;
  readonly context: ControllerContext;
  readonly caches: CsiCaches;
  readonly settings: CsiProvisioningSettings;
}

/** A provisioner for each CSI driver of this process; drivers may join at any time. */
export class CsiProvisioners implements JoiningProvisioners {
  readonly #options: CsiProvisionersOptions;
  readonly #made = new Map<ServedCsiDriver, Provisioner>();

  constructor(options: CsiProvisionersOptions) {
    this.#options = options;
  }

  get(name: string): Provisioner | undefined {
    const driver = this.#options.drivers.get(name);
    if (driver === undefined) return undefined;
    const made = this.#made.get(driver) ?? new CsiProvisioner({ ...this.#options, driver });
    this.#made.set(driver, made);
    return made;
  }

  onJoin(listener: (name: string) => void): () => void {
    return this.#options.drivers.onJoin(({ name }) => listener(name));
  }
}

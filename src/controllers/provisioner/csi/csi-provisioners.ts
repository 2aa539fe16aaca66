import type { CsiDriverSet, ServedCsiDriver } from '../../../csi/served-driver.ts';
import { drivesDriver } from '../../../kube/stowage/drive.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { Provisioner } from '../provisioner.ts';
import type { JoiningProvisioners } from '../provisioner-registry.ts';
import type { CsiCaches } from './csi-caches.ts';
import { CsiProvisioner } from './csi-provisioner.ts';
import type { CsiProvisioningSettings } from './csi-provisioning-settings.ts';

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
    const made =
      this.#made.get(driver) ??
      new CsiProvisioner({ ...this.#options, driver, settings: this.#settingsFor(driver) });
    this.#made.set(driver, made);
    return made;
  }

  /** Volumes on drives are in one node, and their ledgers name the claim. */
  #settingsFor({ name }: ServedCsiDriver): CsiProvisioningSettings {
    const { settings } = this.#options;
    return name === drivesDriver
      ? { ...settings, strictTopology: true, extraCreateMetadata: true }
      : settings;
  }

  onJoin(listener: (name: string) => void): () => void {
    return this.#options.drivers.onJoin(({ name }) => listener(name));
  }
}

import { EnforcingDriver, type EnforcingDriverOptions } from '../../../../csi/testing/enforcing-driver.ts';
import { JoiningDrivers } from '../../../../csi/testing/joining-drivers.ts';
import type { PersistentVolume } from '../../../../kube/api/core.ts';
import type { StorageClass } from '../../../../kube/api/storage.ts';
import { csiNodes, persistentVolumeClaims } from '../../../../kube/resources.ts';
import { labels } from '../../../../kube/well-known.ts';
import type { Controller } from '../../../../reconcile/controller.ts';
import type { CsiSettings } from '../../../csi-settings.ts';
import { intentOf } from '../../intent.ts';
import { provisionerController } from '../../provisioner-controller.ts';
import { classOf, type TestClaimOptions } from '../../testing/objects.ts';
import { ProvisionerFixture } from '../../testing/provisioner-fixture.ts';

export const driverName = 'enforcing.example.com';
export const gibibyte = 2n ** 30n;

export interface CsiFixtureOptions {
  readonly driver?: Partial<EnforcingDriverOptions>;
  readonly storageClass?: StorageClass;
  readonly settings?: Partial<CsiSettings>;
  /** The driver joins when the test says so. */
  readonly joinsLater?: boolean;
}

/** The nodes of `ProvisionerFixture` with a driver of 10 GiB on each, which registered the hostname as its topology. */
export class CsiProvisionerFixture implements AsyncDisposable {
  readonly driver: EnforcingDriver;
  readonly drivers: JoiningDrivers;
  readonly base: ProvisionerFixture;
  readonly #settings: Partial<CsiSettings>;

  private constructor(
    base: ProvisionerFixture,
    driver: EnforcingDriver,
    drivers: JoiningDrivers,
    settings: Partial<CsiSettings>,
  ) {
    this.base = base;
    this.driver = driver;
    this.drivers = drivers;
    this.#settings = settings;
  }

  /** Without a running controller. */
  static async start(options: CsiFixtureOptions = {}): Promise<CsiProvisionerFixture> {
    const pools = { a1: 10n * gibibyte, a2: 10n * gibibyte, b1: 10n * gibibyte };
    const driver = new EnforcingDriver({ topologyKey: labels.hostname, pools, ...options.driver });
    const drivers = options.joinsLater ? new JoiningDrivers() : await JoiningDrivers.of(driver);
    const storageClass = classOf({ provisioner: driverName, ...options.storageClass });
    const base = await ProvisionerFixture.start([], storageClass);
    for (const name of Object.keys(pools)) {
      const entry = { name: driverName, nodeID: name, topologyKeys: [labels.hostname] };
      await base.cluster.resource(csiNodes).create({ metadata: { name }, spec: { drivers: [entry] } });
    }
    return new CsiProvisionerFixture(base, driver, drivers, options.settings ?? {});
  }

  get controllers(): readonly Controller[] {
    const csi = { addresses: [], timeoutMs: 10_000, ...this.#settings };
    return [provisionerController({ csiDrivers: this.drivers, csi })];
  }

  run() {
    return this.base.virtualTime.run(this.controllers);
  }

  async makeClaim(options: TestClaimOptions = {}) {
    return await this.base.makeClaim({ node: 'a1', provisioner: driverName, ...options });
  }

  /** Runs until the claim has its volume, and returns it. */
  async provisioned(name = 'data'): Promise<PersistentVolume> {
    const find = async () => {
      const claim = await this.base.claim(name);
      if (claim === undefined || intentOf(claim) !== undefined) return undefined;
      return (await this.base.volumes()).find(({ spec }) => spec?.claimRef?.uid === claim.metadata?.uid);
    };
    await this.base.until(async () => (await find()) !== undefined);
    return (await find()) as PersistentVolume;
  }

  /** The notes of Events with this reason. */
  async notes(reason = 'ProvisioningFailed'): Promise<readonly string[]> {
    const lines = await this.base.virtualTime.eventLines();
    return lines.filter((line) => line.startsWith(`${reason} `));
  }

  /** Whether the volumes of the driver and the PersistentVolumes are the same, and no claim has an intent. */
  async isAtRest(): Promise<boolean> {
    const volumes = await this.base.volumes();
    const recorded = volumes.map(({ spec }) => spec?.csi?.volumeHandle ?? '').sort();
    const made = [...this.driver.volumes.keys()].sort();
    const { items } = await this.base.cluster.resource(persistentVolumeClaims).list();
    return recorded.join() === made.join() && items.every((claim) => intentOf(claim) === undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.base[Symbol.asyncDispose]();
  }
}

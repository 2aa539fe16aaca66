import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import { socketPathOf } from './csi-address.ts';
import { CsiClient } from './csi-client.ts';
import { CsiDriver } from './csi-driver.ts';
import type { CsiDriverSet, ServedCsiDriver } from './served-driver.ts';

export interface CsiDriverConnectionsOptions {
  /** Addresses of the drivers: `unix:///path` each. */
  readonly addresses: readonly string[];
  /** The flag that the addresses come from, for errors. */
  readonly addressSource: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly supervisor: Supervisor;
}

/**
 * Connects to each address, and waits there as long as necessary: a driver may start after this process. A driver that broke the rules
 * of CSI is tried again with the supervisor's back-off. The first driver of a name is used; a second one is reported and ignored.
 */
export class CsiDriverConnections implements CsiDriverSet {
  readonly #drivers = new Map<string, CsiDriver>();
  readonly #listeners = new Set<(driver: ServedCsiDriver) => void>();
  readonly #options: CsiDriverConnectionsOptions;
  readonly #unanswered = new Set<string>();

  /** Throws a `CsiAddressError` for an address that cannot be used. */
  constructor(options: CsiDriverConnectionsOptions) {
    this.#options = options;
    const { addresses, addressSource, supervisor } = options;
    const paths = new Set(addresses.map((address) => socketPathOf(address, addressSource)));
    for (const path of paths) {
      this.#unanswered.add(`unix://${path}`);
      // A plugin may serve its controller and its node service on one socket.
      const name = `CSI driver at ${path} (${addressSource})`;
      supervisor.start(name, (signal) => this.#connect(`unix://${path}`, signal));
    }
  }

  get(name: string): ServedCsiDriver | undefined {
    return this.#drivers.get(name);
  }

  all(): readonly ServedCsiDriver[] {
    return [...this.#drivers.values()];
  }

  get isIncomplete(): boolean {
    return this.#unanswered.size > 0;
  }

  onJoin(listener: (driver: ServedCsiDriver) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #connect(address: string, signal: AbortSignal): Promise<void> {
    const { addressSource, clock, random, log, metrics } = this.#options;
    const client = new CsiClient({ address, addressSource, clock, log, metrics });
    signal.addEventListener('abort', () => client.close(), { once: true });
    try {
      const driver = await CsiDriver.connect({ client, clock, random, log, signal });
      this.#join(driver, address);
    } catch (error) {
      client.close();
      if (!signal.aborted) throw error;
    }
  }

  #join(driver: CsiDriver, address: string): void {
    const { log } = this.#options;
    const { name, vendorVersion } = driver;
    this.#unanswered.delete(address);
    const first = this.#drivers.get(name);
    if (first !== undefined) {
      log.error(
        `the driver at ${address} has the name ${name}, as the one at ${first.client.address}; remove one of them`,
      );
      driver.client.close();
      return;
    }
    this.#drivers.set(name, driver);
    log.info(`connected to CSI driver ${name} ${vendorVersion} at ${address}`);
    for (const listener of this.#listeners) listener(driver);
  }
}

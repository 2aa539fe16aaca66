import { InProcessDriver } from '../in-process-driver.ts';
import type { CsiDriverSet, ServedCsiDriver } from '../served-driver.ts';
import type { EnforcingDriver } from './enforcing-driver.ts';

/** A set of drivers in this process; each joins when a test says so. */
export class JoiningDrivers implements CsiDriverSet {
  isIncomplete = false;
  readonly #drivers = new Map<string, ServedCsiDriver>();
  readonly #listeners = new Set<(driver: ServedCsiDriver) => void>();

  static async of(...drivers: readonly EnforcingDriver[]): Promise<JoiningDrivers> {
    const set = new JoiningDrivers();
    for (const driver of drivers) await set.join(driver);
    return set;
  }

  async join(driver: EnforcingDriver): Promise<void> {
    const served = await InProcessDriver.connect(driver.services(), new AbortController().signal);
    this.#drivers.set(served.name, served);
    for (const listener of this.#listeners) listener(served);
  }

  get(name: string): ServedCsiDriver | undefined {
    return this.#drivers.get(name);
  }

  all(): readonly ServedCsiDriver[] {
    return [...this.#drivers.values()];
  }

  onJoin(listener: (driver: ServedCsiDriver) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

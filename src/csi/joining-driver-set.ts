import type { CsiDriverSet, ServedCsiDriver } from './served-driver.ts';

/** A set of drivers that drivers of this process join, beside those of another set. */
export class JoiningDriverSet implements CsiDriverSet {
  readonly #others: CsiDriverSet | undefined;
  readonly #joined = new Map<string, ServedCsiDriver>();
  readonly #listeners = new Set<(driver: ServedCsiDriver) => void>();

  constructor(others?: CsiDriverSet) {
    this.#others = others;
  }

  get isIncomplete(): boolean {
    return this.#others?.isIncomplete ?? false;
  }

  /** A driver that has joined before takes no effect. */
  join(driver: ServedCsiDriver): void {
    if (this.#joined.get(driver.name) === driver) return;
    this.#joined.set(driver.name, driver);
    for (const listener of [...this.#listeners]) listener(driver);
  }

  get(name: string): ServedCsiDriver | undefined {
    return this.#joined.get(name) ?? this.#others?.get(name);
  }

  all(): readonly ServedCsiDriver[] {
    const others = this.#others?.all() ?? [];
    return [...others.filter(({ name }) => !this.#joined.has(name)), ...this.#joined.values()];
  }

  onJoin(listener: (driver: ServedCsiDriver) => void): () => void {
    this.#listeners.add(listener);
    const stopOthers = this.#others?.onJoin(listener);
    return () => {
      this.#listeners.delete(listener);
      stopOthers?.();
    };
  }
}

/** The accounting of the demo's driver: the capacity of each node, and the volumes that use it. */
export class Pools {
  readonly #sizes = new Map<string, bigint>();
  readonly #volumes = new Map<string, Taken>();
  readonly #listeners = new Set<(node: string) => void>();

  /** Calls the listener for every node whose accounting changes. The returned function unsubscribes it. */
  onChange(listener: (node: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The size of a node's pool; undefined if it has none. */
  size(node: string, bytes: bigint | undefined): void {
    if (this.#sizes.get(node) === bytes) return;
    if (bytes === undefined) this.#sizes.delete(node);
    else this.#sizes.set(node, bytes);
    this.#tell(node);
  }

  /** Reserves capacity for a volume, unless it has some already; false if there is not enough. */
  take(volume: string, node: string, bytes: bigint): boolean {
    if (this.#volumes.get(volume)?.node === node) return true;
    if (this.leftBytes(node) < bytes) return false;
    this.record(volume, node, bytes);
    return true;
  }

  /** Records an existing volume, even if it exceeds the pool. */
  record(volume: string, node: string, bytes: bigint): void {
    const known = this.#volumes.get(volume);
    if (known?.node === node && known.bytes === bytes) return;
    this.#volumes.set(volume, { node, bytes });
    if (known !== undefined && known.node !== node) this.#tell(known.node);
    this.#tell(node);
  }

  give(volume: string): void {
    const known = this.#volumes.get(volume);
    if (known === undefined) return;
    this.#volumes.delete(volume);
    this.#tell(known.node);
  }

  /** Never negative: a pool may have shrunk below its use. */
  leftBytes(node: string): bigint {
    let left = this.#sizes.get(node) ?? 0n;
    for (const volume of this.#volumes.values()) if (volume.node === node) left -= volume.bytes;
    return left < 0n ? 0n : left;
  }

  #tell(node: string): void {
    for (const listener of this.#listeners) listener(node);
  }
}

interface Taken {
  readonly node: string;
  readonly bytes: bigint;
}

/** The books of the demo's driver: how much room each node has, and who took how much of it. */
export class Pools {
  readonly #sizes = new Map<string, bigint>();
  readonly #volumes = new Map<string, Taken>();
  readonly #listeners = new Set<(node: string) => void>();

  /** Told of every node whose books change. The returned function ends that. */
  onChange(listener: (node: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** How large a node's pool is; undefined where it has none. */
  size(node: string, bytes: bigint | undefined): void {
    if (this.#sizes.get(node) === bytes) return;
    if (bytes === undefined) this.#sizes.delete(node);
    else this.#sizes.set(node, bytes);
    this.#tell(node);
  }

  /** Takes room for a volume, unless it has some already; false where there is not enough. */
  take(volume: string, node: string, bytes: bigint): boolean {
    if (this.#volumes.get(volume)?.node === node) return true;
    if (this.leftBytes(node) < bytes) return false;
    this.record(volume, node, bytes);
    return true;
  }

  /** A volume that is there takes its room whether or not there is any. */
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

  /** Never below nothing: a pool may have been made smaller than what was taken of it. */
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

import type { ContainerImage } from '../../../kube/api/core.ts';
import { nonNullItems } from '../../records/field-readers.ts';
import { NodeSet } from './node-set.ts';

/** An image that some nodes have pulled. */
export class PulledImage {
  readonly nodes = new NodeSet();
  /** How many nodes report each size. Nearly always there is one size. */
  readonly #sizes = new Map<number, number>();

  /** The largest size if nodes disagree, so that the result doesn't depend on the order of events. */
  get sizeBytes(): number {
    return Math.max(0, ...this.#sizes.keys());
  }

  add(row: number, sizeBytes: number): void {
    this.nodes.add(row);
    this.#sizes.set(sizeBytes, (this.#sizes.get(sizeBytes) ?? 0) + 1);
  }

  delete(row: number, sizeBytes: number): void {
    this.nodes.delete(row);
    const count = this.#sizes.get(sizeBytes)!;
    if (count === 1) this.#sizes.delete(sizeBytes);
    else this.#sizes.set(sizeBytes, count - 1);
  }
}

/** Which nodes have pulled which image, by each of its names. */
export class ImageTable {
  readonly #byName = new Map<string, PulledImage>();

  get(name: string): PulledImage | undefined {
    return this.#byName.get(name);
  }

  /** `before` must be the previous list. A node that is absent has an empty list. */
  change(row: number, before: readonly ContainerImage[], after: readonly ContainerImage[]): void {
    if (haveSameImages(before, after)) return;
    for (const [name, sizeBytes] of sizesByName(before)) {
      const image = this.#byName.get(name)!;
      image.delete(row, sizeBytes);
      if (image.nodes.size === 0) this.#byName.delete(name);
    }
    for (const [name, sizeBytes] of sizesByName(after)) {
      const image = this.#byName.get(name) ?? new PulledImage();
      this.#byName.set(name, image);
      image.add(row, sizeBytes);
    }
  }
}

/** Nodes resend the whole list with each heartbeat, and it has nearly always stayed the same. */
export function haveSameImages(before: readonly ContainerImage[], after: readonly ContainerImage[]): boolean {
  return (
    before.length === after.length &&
    before.every((image, at) => {
      const other = after[at]!;
      const names = nonNullItems(image.names);
      const others = nonNullItems(other.names);
      return (
        image.sizeBytes === other.sizeBytes &&
        names.length === others.length &&
        names.every((name, position) => name === others[position])
      );
    })
  );
}

/** A name that a node lists twice counts once, with the first size. */
function sizesByName(images: readonly ContainerImage[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { names, sizeBytes } of images) {
    const size = typeof sizeBytes === 'number' && sizeBytes > 0 ? sizeBytes : 0;
    for (const name of nonNullItems(names)) {
      if (typeof name === 'string' && !sizes.has(name)) sizes.set(name, size);
    }
  }
  return sizes;
}

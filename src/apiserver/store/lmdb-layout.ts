/**
 * The layout of LMDB's file, as lmdb-js writes it; all numbers are little-endian.
 *
 *     page     number (8), transaction (8), padding (2), flags (2), then for a tree: lower (2) and upper (2), for a
 *              record of its own: how many pages it has (4); `lower`, `upper` and pointers count from the end of this header
 *     tree     padding (4), flags (2), depth (2), numbers of branches, leaves, overflow pages and entries, root (8 each)
 *     node     bytes of the data (4), flags (2), bytes of the key (2), key, data; in a branch the first six bytes are the child
 */
export const pageHeader = {
  bytes: 24,
  number: 0,
  transaction: 8,
  flags: 18,
  lower: 20,
  upper: 22,
  pages: 20,
} as const;

export const pageFlags = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const;

export const nodeHeader = { bytes: 8, flags: 4, keyBytes: 6 } as const;

export const nodeFlags = { overflow: 1, tree: 2 } as const;

/** The data of a node whose record has pages of its own. */
export const overflowReference = { bytes: 24, number: 0, pages: 16 } as const;

export const treeBytes = 48;

export interface TreeDescription {
  readonly padding: number;
  readonly flags: number;
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflowPages: number;
  readonly entries: number;
  /** Undefined if the tree is empty. */
  readonly root: number | undefined;
}

const noPage = 2n ** 64n - 1n;

export function readTree(bytes: Buffer, at: number): TreeDescription {
  const numberAt = (offset: number) => Number(bytes.readBigUInt64LE(at + offset));
  return {
    padding: bytes.readUInt32LE(at),
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branches: numberAt(8),
    leaves: numberAt(16),
    overflowPages: numberAt(24),
    entries: numberAt(32),
    root: bytes.readBigUInt64LE(at + 40) === noPage ? undefined : numberAt(40),
  };
}

/** A page is missing, or LMDB could not have written it. */
export class PageError extends Error {
  readonly page: number;

  constructor(page: number) {
    super(`page ${page}`);
    this.page = page;
  }
}

export function expectPage(page: number, isRight: boolean): void {
  if (!isRight) throw new PageError(page);
}

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Walks all pages that the newest transaction of a file references, and throws if one is missing or invalid. LMDB
 * itself trusts its file and ends the process if pages are missing, as in an incomplete copy. The contents of pages and
 * free pages are not checked: a file may be shorter than LMDB counts as long as only free pages are missing.
 */
export function checkLmdbPages(path: string): void {
  const file = openSync(path, 'r');
  try {
    new PageWalk(file).check();
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    throw new Error(`${path} is damaged or truncated at page ${error.page}`);
  } finally {
    closeSync(file);
  }
}

/** Offsets in a page, all little-endian; `lower` and the node pointers count from the end of the header. */
const header = { bytes: 24, number: 0, flags: 18, lower: 20, upper: 22, pages: 20 };
const meta = { pageSize: 48, freeTree: 48, mainTree: 96, transaction: 152, bytes: 168 };
const tree = { bytes: 48, depth: 6, root: 40 };
const node = { bytes: 8, flags: 4, keyBytes: 6 };
const overflow = { bytes: 24, number: 0, pages: 16 };

const pageFlags = { mask: 0x6f, branch: 1, leaf: 2, overflow: 4 };
const nodeFlags = { overflow: 1, tree: 2 };

const noPage = 2n ** 64n - 1n;
const depthMax = 32;

class PageError extends Error {
  readonly page: number;

  constructor(page: number) {
    super(`page ${page}`);
    this.page = page;
  }
}

class PageWalk {
  readonly #file: number;
  readonly #pageBytes: number;
  readonly #pageCount: number;
  /** One buffer for each level: a page is still needed while its children are read. */
  readonly #pages: Buffer[] = [];
  #seenCount = 0;

  constructor(file: number) {
    this.#file = file;
    this.#pageBytes = this.#readAt(0, Buffer.alloc(meta.bytes)).readUInt32LE(meta.pageSize);
    this.#pageCount = Math.floor(fstatSync(file).size / this.#pageBytes);
  }

  check(): void {
    const metas = [0, 1].map((page) => this.#readAt(page * this.#pageBytes, Buffer.alloc(meta.bytes)));
    const [first, second] = metas as [Buffer, Buffer];
    const isSecond = second.readBigUInt64LE(meta.transaction) > first.readBigUInt64LE(meta.transaction);
    const newest = isSecond ? second : first;
    this.#checkTree(newest.subarray(meta.freeTree, meta.freeTree + tree.bytes));
    this.#checkTree(newest.subarray(meta.mainTree, meta.mainTree + tree.bytes));
  }

  #checkTree(described: Buffer, level = 0): void {
    const root = described.readBigUInt64LE(tree.root);
    if (root === noPage) return;
    const depth = described.readUInt16LE(tree.depth);
    if (depth === 0 || level + depth > depthMax) throw new PageError(Number(root));
    this.#checkBranch(Number(root), level, level + depth - 1);
  }

  #checkBranch(number: number, level: number, leafLevel: number): void {
    const isLeaf = level === leafLevel;
    const page = this.#page(number, level, isLeaf ? pageFlags.leaf : pageFlags.branch);
    const lower = page.readUInt16LE(header.lower);
    const upper = page.readUInt16LE(header.upper);
    if (lower % 2 !== 0 || lower > upper || upper > this.#pageBytes - header.bytes)
      throw new PageError(number);
    for (let at = header.bytes; at < header.bytes + lower; at += 2) {
      const offset = header.bytes + page.readUInt16LE(at);
      if (offset + node.bytes > this.#pageBytes) throw new PageError(number);
      if (isLeaf) this.#checkLeafNode(page, number, offset, level);
      else this.#checkBranch(childOf(page, offset), level + 1, leafLevel);
    }
  }

  #checkLeafNode(page: Buffer, number: number, offset: number, level: number): void {
    const flags = page.readUInt16LE(offset + node.flags);
    const data = offset + node.bytes + page.readUInt16LE(offset + node.keyBytes);
    const isOverflow = (flags & nodeFlags.overflow) !== 0;
    const dataBytes = isOverflow ? overflow.bytes : page.readUInt32LE(offset);
    if (data + dataBytes > this.#pageBytes) throw new PageError(number);
    if (isOverflow) this.#checkOverflow(page.subarray(data, data + overflow.bytes), level);
    else if ((flags & nodeFlags.tree) !== 0) {
      if (dataBytes !== tree.bytes) throw new PageError(number);
      this.#checkTree(Buffer.from(page.subarray(data, data + tree.bytes)), level + 1);
    }
  }

  #checkOverflow(described: Buffer, level: number): void {
    const number = Number(described.readBigUInt64LE(overflow.number));
    const pages = Number(described.readBigUInt64LE(overflow.pages));
    const found = this.#header(number, level + 1, header.bytes, pageFlags.overflow);
    if (found.readUInt32LE(header.pages) !== pages || number + pages > this.#pageCount) {
      throw new PageError(number);
    }
  }

  #page(number: number, level: number, flag: number): Buffer {
    return this.#header(number, level, this.#pageBytes, flag);
  }

  /** Reads the first `bytes` bytes of a page and checks its number and type. */
  #header(number: number, level: number, bytes: number, flag: number): Buffer {
    this.#seenCount += 1;
    // Prevents endless loops over pages that reference themselves.
    if (number >= this.#pageCount || this.#seenCount > this.#pageCount) throw new PageError(number);
    this.#pages[level] ??= Buffer.alloc(this.#pageBytes);
    const page = this.#readAt(number * this.#pageBytes, this.#pages[level].subarray(0, bytes));
    const isRight =
      page.readBigUInt64LE(header.number) === BigInt(number) &&
      (page.readUInt16LE(header.flags) & pageFlags.mask) === flag;
    if (!isRight) throw new PageError(number);
    return page;
  }

  #readAt(position: number, into: Buffer): Buffer {
    const read = readSync(this.#file, into, 0, into.length, position);
    if (read < into.length) throw new PageError(Math.floor(position / (this.#pageBytes ?? 1)));
    return into;
  }
}

/** In a branch, the bytes of the flags are the high bits of the page number. */
function childOf(page: Buffer, offset: number): number {
  return page.readUInt32LE(offset) + page.readUInt16LE(offset + node.flags) * 2 ** 32;
}

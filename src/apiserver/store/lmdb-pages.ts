import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import {
  expectPage,
  nodeFlags,
  nodeHeader,
  overflowReference,
  PageError,
  pageFlags,
  pageHeader,
  readTree,
  type TreeDescription,
  treeBytes,
} from './lmdb-layout.ts';
import { type MetaPage, newestMeta } from './lmdb-metas.ts';
import { DamagedData } from './store-error.ts';

/**
 * Walks all pages that the newest transaction of a file references, and throws if LMDB could not have written
 * one of them. LMDB itself trusts its file: it ends the process if pages are missing, and it loses records if keys are not
 * in order or if its list of free pages names a page that is in use. The contents of records are not checked here, and
 * free pages may be damaged or missing.
 */
export function checkLmdbPages(path: string): void {
  const file = openSync(path, 'r');
  try {
    const meta = newestMeta(file);
    new PageWalk(file, meta).check();
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    throw new DamagedData(`${path} is damaged or truncated at page ${error.page} (restore it from a backup)`);
  } finally {
    closeSync(file);
  }
}

const depthMax = 32;

/** What differs between trees: the tree of free pages has transactions as keys, the main tree has trees as records. */
interface TreeKind {
  readonly compare: (page: Buffer, at: number, end: number, other: Buffer) => number;
  /** Undefined if keys have any length. */
  readonly keyBytes?: number;
  readonly onRecord?: (data: Buffer, page: number) => void;
  readonly hasTrees: boolean;
}

interface TreeWalk {
  readonly kind: TreeKind;
  readonly leafLevel: number;
  readonly found: { branches: number; leaves: number; overflowPages: number; entries: number };
  /** The newest key of a leaf, and the key of a branch that the next one must not be below. */
  last: Buffer | undefined;
  floor: Buffer | undefined;
}

class PageWalk {
  readonly #file: number;
  readonly #meta: MetaPage;
  readonly #pageBytes: number;
  readonly #pageCount: number;
  /** 1 for a page of a tree, 2 for a free page. */
  readonly #uses: Uint8Array;
  /** One buffer for each level: a page is still needed while its children are read. */
  readonly #pages: Buffer[] = [];

  constructor(file: number, meta: MetaPage) {
    this.#file = file;
    this.#meta = meta;
    this.#pageBytes = meta.pageBytes;
    this.#pageCount = Math.floor(fstatSync(file).size / meta.pageBytes);
    // Free pages at the end need not exist; a number far beyond the end is damaged.
    expectPage(meta.transaction % 2, meta.lastPage >= 1 && meta.lastPage < 2 * this.#pageCount + 2 ** 16);
    this.#uses = new Uint8Array(meta.lastPage + 1).fill(1, 0, 2);
  }

  check(): void {
    const { freeTree, mainTree } = this.#meta;
    const onRecord = (data: Buffer, page: number) => this.#addFreePages(data, page);
    this.#checkTree(freeTree, 0, {
      compare: compareTransactions,
      keyBytes: 8,
      onRecord,
      hasTrees: false,
    });
    expectPage(this.#meta.transaction % 2, mainTree.flags === 0 && mainTree.padding === 0);
    this.#checkTree(mainTree, 0, { compare: compareBytes, hasTrees: true });
    const unaccounted = this.#uses.indexOf(0);
    if (unaccounted >= 0) throw new PageError(unaccounted);
  }

  #checkTree(description: TreeDescription, level: number, kind: TreeKind): void {
    const { root, depth, branches, leaves, overflowPages, entries } = description;
    const page = root ?? this.#meta.transaction % 2;
    const found = { branches: 0, leaves: 0, overflowPages: 0, entries: 0 };
    expectPage(page, (root === undefined) === (depth === 0) && level + depth <= depthMax);
    const walk: TreeWalk = { kind, leafLevel: level + depth - 1, found, last: undefined, floor: undefined };
    if (root !== undefined) this.#checkPage(root, level, walk);
    const isRight =
      found.branches === branches &&
      found.leaves === leaves &&
      found.overflowPages === overflowPages &&
      found.entries === entries;
    expectPage(page, isRight);
  }

  #checkPage(number: number, level: number, walk: TreeWalk): void {
    const isLeaf = level === walk.leafLevel;
    const page = this.#read(number, level, this.#pageBytes, isLeaf ? pageFlags.leaf : pageFlags.branch);
    walk.found[isLeaf ? 'leaves' : 'branches'] += 1;
    const lower = page.readUInt16LE(pageHeader.lower);
    const upper = page.readUInt16LE(pageHeader.upper);
    expectPage(number, lower > 0 && lower % 2 === 0 && lower <= upper);
    let usedBytes = 0;
    for (let at = 0; at < lower; at += 2) {
      const offset = page.readUInt16LE(pageHeader.bytes + at);
      expectPage(number, offset >= upper && pageHeader.bytes + offset + nodeHeader.bytes <= this.#pageBytes);
      const node = pageHeader.bytes + offset;
      const bytes = isLeaf
        ? this.#checkLeafNode(page, number, node, { level, walk })
        : this.#checkBranchNode(page, number, node, { level, walk, isFirst: at === 0 });
      usedBytes += bytes + (bytes % 2);
    }
    // LMDB keeps the nodes of a page without gaps.
    expectPage(number, usedBytes === this.#pageBytes - pageHeader.bytes - upper);
  }

  /** Returns the bytes of the node. */
  #checkBranchNode(
    page: Buffer,
    number: number,
    node: number,
    { level, walk, isFirst }: { readonly level: number; readonly walk: TreeWalk; readonly isFirst: boolean },
  ): number {
    const [keyStart, keyEnd] = this.#keyOf(page, number, node, isFirst ? undefined : walk.kind.keyBytes);
    if (!isFirst) {
      expectPage(number, isAbove(walk, page, keyStart, keyEnd));
      walk.floor = Buffer.from(page.subarray(keyStart, keyEnd));
    }
    // The bytes of the flags are the high bits of the page number.
    const child = page.readUInt32LE(node) + page.readUInt16LE(node + nodeHeader.flags) * 2 ** 32;
    this.#checkPage(child, level + 1, walk);
    return keyEnd - node;
  }

  #checkLeafNode(
    page: Buffer,
    number: number,
    node: number,
    { level, walk }: { readonly level: number; readonly walk: TreeWalk },
  ): number {
    const { kind, floor } = walk;
    const [keyStart, keyEnd] = this.#keyOf(page, number, node, kind.keyBytes);
    const isInOrder =
      isAbove(walk, page, keyStart, keyEnd) &&
      (floor === undefined || kind.compare(page, keyStart, keyEnd, floor) >= 0);
    expectPage(number, keyEnd > keyStart && isInOrder);
    walk.floor = undefined;
    walk.last = Buffer.from(page.subarray(keyStart, keyEnd));
    walk.found.entries += 1;
    const flags = page.readUInt16LE(node + nodeHeader.flags);
    const isOverflow = flags === nodeFlags.overflow;
    expectPage(number, kind.hasTrees ? flags === nodeFlags.tree : isOverflow || flags === 0);
    const length = page.readUInt32LE(node);
    const end = keyEnd + (isOverflow ? overflowReference.bytes : length);
    expectPage(number, end <= this.#pageBytes);
    if (isOverflow) this.#checkOverflow(page, keyEnd, length, level, walk);
    else if (kind.hasTrees) this.#checkNamedTree(page, number, keyEnd, end, level);
    else kind.onRecord?.(page.subarray(keyEnd, end), number);
    return end - node;
  }

  #checkNamedTree(page: Buffer, number: number, start: number, end: number, level: number): void {
    expectPage(number, end - start === treeBytes);
    const description = readTree(page, start);
    expectPage(number, description.flags === 0 && description.padding === 0);
    this.#checkTree(description, level + 1, { compare: compareBytes, hasTrees: false });
  }

  #checkOverflow(page: Buffer, at: number, length: number, level: number, { kind, found }: TreeWalk): void {
    const number = Number(page.readBigUInt64LE(at + overflowReference.number));
    const pages = Number(page.readBigUInt64LE(at + overflowReference.pages));
    const first = this.#read(number, level + 1, pageHeader.bytes, pageFlags.overflow);
    expectPage(
      number,
      pages === Math.ceil((pageHeader.bytes + length) / this.#pageBytes) &&
        first.readUInt32LE(pageHeader.pages) === pages &&
        number + pages <= this.#pageCount,
    );
    for (let more = number + 1; more < number + pages; more += 1) this.#use(more, 1);
    found.overflowPages += pages;
    if (kind.onRecord === undefined) return;
    kind.onRecord(this.#readAt(number * this.#pageBytes + pageHeader.bytes, Buffer.alloc(length)), number);
  }

  /** A list of page numbers after its length; a negative number is the length of a run of pages, 0 is nothing. */
  #addFreePages(data: Buffer, page: number): void {
    expectPage(page, data.length >= 8 && data.length % 8 === 0);
    const length = Number(data.readBigInt64LE(0));
    expectPage(page, length >= 0 && 8 * (length + 1) <= data.length);
    let run = 1;
    for (let index = 1; index <= length; index += 1) {
      const entry = Number(data.readBigInt64LE(8 * index));
      if (entry > 0) {
        expectPage(page, run <= this.#uses.length);
        for (let free = entry; free < entry + run; free += 1) this.#use(free, 2);
        run = 1;
      } else if (entry < 0) run = -entry;
    }
  }

  /** The start and end of a node's key. */
  #keyOf(page: Buffer, number: number, node: number, keyBytes: number | undefined): [number, number] {
    const start = node + nodeHeader.bytes;
    const end = start + page.readUInt16LE(node + nodeHeader.keyBytes);
    expectPage(number, end <= this.#pageBytes && (keyBytes === undefined || end - start === keyBytes));
    return [start, end];
  }

  /** A page has one use; this also prevents endless loops over pages that reference themselves. */
  #use(number: number, use: 1 | 2): void {
    expectPage(number, this.#uses[number] === 0);
    this.#uses[number] = use;
  }

  /** Reads the first `bytes` bytes of a page and checks its header. */
  #read(number: number, level: number, bytes: number, flag: number): Buffer {
    this.#use(number, 1);
    expectPage(number, number < this.#pageCount);
    this.#pages[level] ??= Buffer.alloc(this.#pageBytes);
    const page = this.#readAt(number * this.#pageBytes, this.#pages[level].subarray(0, bytes));
    const isRight =
      Number(page.readBigUInt64LE(pageHeader.number)) === number &&
      page.readUInt16LE(pageHeader.flags) === flag &&
      Number(page.readBigUInt64LE(pageHeader.transaction)) <= this.#meta.transaction;
    expectPage(number, isRight);
    return page;
  }

  #readAt(position: number, into: Buffer): Buffer {
    const read = readSync(this.#file, into, 0, into.length, position);
    expectPage(Math.floor(position / this.#pageBytes), read === into.length);
    return into;
  }
}

function isAbove({ kind, last }: TreeWalk, page: Buffer, start: number, end: number): boolean {
  return last === undefined || kind.compare(page, start, end, last) > 0;
}

function compareBytes(page: Buffer, start: number, end: number, other: Buffer): number {
  return page.compare(other, 0, other.length, start, end);
}

function compareTransactions(page: Buffer, start: number, _end: number, other: Buffer): number {
  const [one, two] = [page.readBigUInt64LE(start), other.readBigUInt64LE(0)];
  return one < two ? -1 : Number(one > two);
}

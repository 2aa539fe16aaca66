import { readSync } from 'node:fs';
import {
  expectPage,
  PageError,
  pageFlags,
  pageHeader,
  readTree,
  type TreeDescription,
} from './lmdb-layout.ts';

/** A meta page, one of the first two pages: the state after one transaction. */
export interface MetaPage {
  readonly pageBytes: number;
  readonly freeTree: TreeDescription;
  readonly mainTree: TreeDescription;
  readonly lastPage: number;
  readonly transaction: number;
}

const offsets = {
  magic: 24,
  version: 28,
  mapSize: 40,
  freeTree: 48,
  mainTree: 96,
  lastPage: 144,
  bytes: 168,
};
const transactionOffset = 152;
const magic = 0xbeefc0de;
const layoutVersion = 2;
const mapBytesMax = 2 ** 42;

/**
 * The newer of the two meta pages, after checking both. LMDB writes them in turn, the one of transaction N to page
 * N modulo 2, and the state before the newest one stays complete. LMDB would silently go back to that state if the number
 * of a transaction were damaged. But each transaction of the store rewrites the root of the main tree, and a page has
 * the number of the transaction that wrote it: so each meta page must have the number of the root that it names.
 */
export function newestMeta(file: number): MetaPage {
  const first = readMeta(file, 0, 0);
  const second = readMeta(file, 1, first.pageBytes);
  const [older, newer] = second.transaction > first.transaction ? [first, second] : [second, first];
  expectPage(1, second.pageBytes === first.pageBytes);
  const isNew = newer.transaction === 0 && newer.mainTree.root === undefined;
  expectPage(newer.transaction % 2, isNew || newer.transaction === older.transaction + 1);
  for (const [number, meta] of [first, second].entries()) checkRoot(file, number, meta, isNew);
  return newer;
}

/** The newest page that any of the two states uses, from a file that LMDB has open. */
export function readLastPage(file: number): { readonly lastPage: number; readonly pageBytes: number } {
  const first = Buffer.alloc(offsets.bytes);
  readSync(file, first, 0, first.length, 0);
  const pageBytes = first.readUInt32LE(offsets.freeTree);
  const second = Buffer.alloc(offsets.bytes);
  readSync(file, second, 0, second.length, pageBytes);
  const lastPages = [first, second].map((page) => Number(page.readBigUInt64LE(offsets.lastPage)));
  return { lastPage: Math.max(...lastPages), pageBytes };
}

function readMeta(file: number, number: number, position: number): MetaPage {
  const page = Buffer.alloc(offsets.bytes);
  expectPage(number, readSync(file, page, 0, page.length, position) === page.length);
  const pageBytes = page.readUInt32LE(offsets.freeTree);
  const mapBytes = Number(page.readBigUInt64LE(offsets.mapSize));
  const transaction = Number(page.readBigUInt64LE(transactionOffset));
  expectPage(
    number,
    Number(page.readBigUInt64LE(pageHeader.number)) === number &&
      page.readUInt16LE(pageHeader.flags) === pageFlags.meta &&
      page.readUInt32LE(offsets.magic) === magic &&
      page.readUInt32LE(offsets.version) === layoutVersion &&
      Number.isInteger(Math.log2(pageBytes)) &&
      pageBytes >= 512 &&
      pageBytes <= 65_536 &&
      mapBytes % pageBytes === 0 &&
      mapBytes <= mapBytesMax &&
      (transaction === 0 || transaction % 2 === number),
  );
  return {
    pageBytes,
    transaction,
    freeTree: readTree(page, offsets.freeTree),
    mainTree: readTree(page, offsets.mainTree),
    lastPage: Number(page.readBigUInt64LE(offsets.lastPage)),
  };
}

function checkRoot(
  file: number,
  number: number,
  { mainTree, pageBytes, transaction }: MetaPage,
  isNew: boolean,
): void {
  const { root } = mainTree;
  if (root === undefined) {
    expectPage(number, isNew || transaction <= 1);
    return;
  }
  const header = Buffer.alloc(pageHeader.bytes);
  if (readSync(file, header, 0, header.length, root * pageBytes) < header.length) throw new PageError(root);
  expectPage(number, Number(header.readBigUInt64LE(pageHeader.transaction)) === transaction);
}

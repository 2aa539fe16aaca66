import type { BigIntStats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';

const chunkBytes = 1024 * 1024;
const slash = Buffer.from('/');

/**
 * The first path below two directories that differs, as text; undefined if they are equal: names, types, owners, modes, times of changes, targets of
 * links, and contents. Names need not be UTF-8, so paths are bytes. Extended attributes are left to cp(1), which fails if it cannot copy them.
 */
export async function differenceBetween(left: string, right: string): Promise<string | undefined> {
  return await differenceAt(Buffer.from(left), Buffer.from(right));
}

async function differenceAt(left: Buffer, right: Buffer): Promise<string | undefined> {
  const [ours, theirs] = await Promise.all([lstat(left, { bigint: true }), lstat(right, { bigint: true })]);
  if (!isSameInode(ours, theirs)) return left.toString();
  if (ours.isDirectory()) return await differenceBelow(left, right);
  if (ours.isSymbolicLink()) {
    const [one, other] = await Promise.all([readlink(left, 'buffer'), readlink(right, 'buffer')]);
    return one.equals(other) ? undefined : left.toString();
  }
  return !ours.isFile() || (await hasSameContent(left, right)) ? undefined : left.toString();
}

function isSameInode(one: BigIntStats, other: BigIntStats): boolean {
  const facts = ({ mode, uid, gid, rdev, mtimeNs, size }: BigIntStats, isDirectory: boolean) =>
    // The size of a directory depends on its history.
    [mode, uid, gid, rdev, mtimeNs, ...(isDirectory ? [] : [size])].join(' ');
  return facts(one, one.isDirectory()) === facts(other, other.isDirectory());
}

async function differenceBelow(left: Buffer, right: Buffer): Promise<string | undefined> {
  const [ours, theirs] = await Promise.all([readdir(left, 'buffer'), readdir(right, 'buffer')]);
  const names = ours.toSorted(Buffer.compare);
  const others = theirs.toSorted(Buffer.compare);
  const at = names.findIndex((name, index) => others[index]?.equals(name) !== true);
  if (at >= 0 || names.length !== others.length) return left.toString();
  for (const name of names) {
    const path = (folder: Buffer) => Buffer.concat([folder, slash, name]);
    const found = await differenceAt(path(left), path(right));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function hasSameContent(left: Buffer, right: Buffer): Promise<boolean> {
  await using one = await openToRead(left);
  await using other = await openToRead(right);
  for (let at = 0; ; at += chunkBytes) {
    const [ours, theirs] = await Promise.all([one.chunk(at), other.chunk(at)]);
    if (!ours.equals(theirs)) return false;
    if (ours.length < chunkBytes) return true;
  }
}

async function openToRead(path: Buffer) {
  const file = await open(path, 'r');
  return {
    async chunk(at: number): Promise<Buffer> {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, at);
      return buffer.subarray(0, bytesRead);
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

import { type BigIntStats, constants } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';

const chunkBytes = 1024 * 1024;
const webAssemblyPageBytes = 64 * 1024;
/** TypeScript declares it for browsers only. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
};
const slash = Buffer.from('/');

/**
 * The first path below two directories that differs, as text; undefined if they are equal: names, types, owners, modes, times of changes, targets of
 * links, and contents. Names need not be UTF-8, so paths are bytes. Extended attributes are left to cp(1), which fails if it cannot copy them.
 */
export async function differenceBetween(left: string, right: string): Promise<string | undefined> {
  return await differenceAt(Buffer.from(left), Buffer.from(right), openToRead);
}

/** The same for a copy that was just written and synchronized: the contents of its files are read from the device, and not from the kernel's memory. */
export async function differenceFromDevice(from: string, copy: string): Promise<string | undefined> {
  return await differenceAt(Buffer.from(from), Buffer.from(copy), openDirectly);
}

type Open = (path: Buffer) => Promise<OpenFile>;

async function differenceAt(left: Buffer, right: Buffer, openRight: Open): Promise<string | undefined> {
  const [ours, theirs] = await Promise.all([lstat(left, { bigint: true }), lstat(right, { bigint: true })]);
  if (!isSameInode(ours, theirs)) return left.toString();
  if (ours.isDirectory()) return await differenceBelow(left, right, openRight);
  if (ours.isSymbolicLink()) {
    const [one, other] = await Promise.all([readlink(left, 'buffer'), readlink(right, 'buffer')]);
    return one.equals(other) ? undefined : left.toString();
  }
  return !ours.isFile() || (await hasSameContent(left, right, openRight)) ? undefined : left.toString();
}

function isSameInode(one: BigIntStats, other: BigIntStats): boolean {
  const facts = ({ mode, uid, gid, rdev, mtimeNs, size }: BigIntStats, isDirectory: boolean) =>
    // The size of a directory depends on its history.
    [mode, uid, gid, rdev, mtimeNs, ...(isDirectory ? [] : [size])].join(' ');
  return facts(one, one.isDirectory()) === facts(other, other.isDirectory());
}

async function differenceBelow(left: Buffer, right: Buffer, openRight: Open): Promise<string | undefined> {
  const [ours, theirs] = await Promise.all([readdir(left, 'buffer'), readdir(right, 'buffer')]);
  const names = ours.toSorted(Buffer.compare);
  const others = theirs.toSorted(Buffer.compare);
  const at = names.findIndex((name, index) => others[index]?.equals(name) !== true);
  if (at >= 0 || names.length !== others.length) return left.toString();
  for (const name of names) {
    const path = (folder: Buffer) => Buffer.concat([folder, slash, name]);
    const found = await differenceAt(path(left), path(right), openRight);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function hasSameContent(left: Buffer, right: Buffer, openRight: Open): Promise<boolean> {
  await using one = await openToRead(left);
  await using other = await openRight(right);
  for (let at = 0; ; at += chunkBytes) {
    const [ours, theirs] = await Promise.all([one.chunk(at), other.chunk(at)]);
    if (!ours.equals(theirs)) return false;
    if (ours.length < chunkBytes) return true;
  }
}

interface OpenFile extends AsyncDisposable {
  chunk(at: number): Promise<Buffer>;
}

async function openToRead(path: Buffer): Promise<OpenFile> {
  return await openWith(path, constants.O_RDONLY, Buffer.alloc(chunkBytes));
}

/** O_DIRECT needs memory that is aligned to the sectors of the device: that of WebAssembly is aligned to its pages of 64 KiB. */
async function openDirectly(path: Buffer): Promise<OpenFile> {
  const { buffer } = new WebAssembly.Memory({ initial: chunkBytes / webAssemblyPageBytes });
  return await openWith(path, constants.O_RDONLY | constants.O_DIRECT, Buffer.from(buffer));
}

async function openWith(path: Buffer, flags: number, memory: Buffer): Promise<OpenFile> {
  const file = await open(path, flags);
  return {
    async chunk(at) {
      const { bytesRead } = await file.read(memory, 0, chunkBytes, at);
      return memory.subarray(0, bytesRead);
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

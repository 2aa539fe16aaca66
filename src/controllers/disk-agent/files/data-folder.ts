import { join } from 'node:path';
import { messageOf } from '../../../runtime/error-message.ts';
import { type DataIdentity, identityText, parseIdentity } from './data-identity.ts';
import type { DataFile, FileStamp, HostFiles } from './host-files.ts';

/** The contents of a directory on a disk. */
export type DataFolderState =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'known';
      readonly identity: DataIdentity;
      /** The length of the data; undefined until all of it is there. */
      readonly dataBytes: number | undefined;
      /** When the data was modified; undefined until all of it is there. */
      readonly modifiedNs: string | undefined;
      /** The length of data that is on its way. */
      readonly partBytes: number;
      /** Bytes on the disk. */
      readonly occupiedBytes: number;
    }
  /** Something that this program did not make, or can't read. It is left alone. */
  | { readonly kind: 'foreign'; readonly problem: string };

export type DataKind = 'Replica' | 'BackingImage';

const subfolders: Readonly<Record<DataKind, string>> = { Replica: 'replicas', BackingImage: 'images' };
const identityFiles: Readonly<Record<DataKind, string>> = {
  Replica: 'replica.json',
  BackingImage: 'image.json',
};
const dataName = 'data.img';
const partName = 'data.img.part';

/**
 * The folder of one replica or one copy of an image:
 *
 * ```
 * DISK/replicas/NAME/replica.json   DISK/images/NAME/image.json    whose data it is
 *                    data.img                       data.img       all of the data
 *                    data.img.part                  data.img.part  data that is on its way
 * ```
 *
 * The identity is written before any data, and removed after it: data without an identity is not ours. `data.img` appears by a rename when
 * all of its bytes are there, and have been checked.
 */
export class DataFolder {
  readonly path: string;
  readonly #files: HostFiles;
  readonly #kind: DataKind;
  readonly #parent: string;

  constructor(files: HostFiles, { diskPath, kind, name }: DataFolderPlace) {
    checkDataName(name);
    this.#files = files;
    this.#kind = kind;
    this.#parent = join(diskPath, subfolders[kind]);
    this.path = join(this.#parent, name);
  }

  get dataPath(): string {
    return join(this.path, dataName);
  }

  get partPath(): string {
    return join(this.path, partName);
  }

  get #identityPath(): string {
    return join(this.path, identityFiles[this.#kind]);
  }

  async inspect(): Promise<DataFolderState> {
    const folder = await this.#files.facts(this.path);
    if (folder === undefined) return { kind: 'missing' };
    if (!folder.isFolder) return { kind: 'foreign', problem: `${this.path} is not a directory` };
    let identity: DataIdentity;
    try {
      const text = await this.#files.readText(this.#identityPath);
      if (text === undefined) return await this.#withoutIdentity();
      identity = parseIdentity(text);
    } catch (error) {
      return { kind: 'foreign', problem: `${this.#identityPath} can't be used: ${messageOf(error)}` };
    }
    const [data, part] = [await this.#files.facts(this.dataPath), await this.#files.facts(this.partPath)];
    if ((data && !data.isFile) || (part && !part.isFile))
      return { kind: 'foreign', problem: `${this.path} has data that is not a regular file` };
    return {
      kind: 'known',
      identity,
      dataBytes: data?.bytes,
      modifiedNs: data?.modifiedNs,
      partBytes: part?.bytes ?? 0,
      occupiedBytes: (data?.occupiedBytes ?? 0) + (part?.occupiedBytes ?? 0),
    };
  }

  /** A crash may have left a folder without anything, or with a temporary file alone. */
  async #withoutIdentity(): Promise<DataFolderState> {
    const others = (await this.#files.entries(this.path)).filter((name) => !this.#isTemporary(name));
    if (others.length === 0) return { kind: 'missing' };
    return { kind: 'foreign', problem: `${this.path} has no ${identityFiles[this.#kind]}` };
  }

  #isTemporary(name: string): boolean {
    return name.startsWith(`${identityFiles[this.#kind]}.`) && name.endsWith('.tmp');
  }

  /** Makes the folder if there is none, and records whose data it has. */
  async identify(identity: DataIdentity): Promise<void> {
    await this.#files.makeFolder(this.#parent);
    await this.#files.makeFolder(this.path);
    await this.#files.writeText(this.#identityPath, identityText(identity));
  }

  /** Opens the data that is on its way. */
  async openPart(): Promise<DataFile> {
    return await this.#files.openData(this.partPath, true);
  }

  /** Opens the data; it must be there. */
  async openData(): Promise<DataFile> {
    return await this.#files.openData(this.dataPath, false);
  }

  /** Discards the data that is on its way. */
  async discardPart(): Promise<void> {
    await this.#files.removeFile(this.partPath);
  }

  /** Zeros at the end of the data that is on its way may not have been written. */
  async resizePart(bytes: number): Promise<void> {
    await this.#files.resize(this.partPath, bytes);
  }

  /** Gives the data that is on its way its length, and a stamp that it keeps until something writes to it. */
  async markPart(bytes: number): Promise<FileStamp> {
    await this.resizePart(bytes);
    const file = await this.openPart();
    try {
      return await file.mark();
    } finally {
      await file.close();
    }
  }

  /** The data that was on its way is all there, with this length. */
  async complete(bytes: number): Promise<void> {
    // Setting the length it has already would be a modification.
    if ((await this.#files.facts(this.partPath))?.bytes !== bytes) await this.resizePart(bytes);
    await this.#files.rename(this.partPath, this.dataPath);
  }

  /** Lengthens the data. It is never cut off. */
  async grow(bytes: number): Promise<void> {
    const found = await this.#files.facts(this.dataPath);
    if (found !== undefined && found.bytes < bytes) await this.#files.resize(this.dataPath, bytes);
  }

  /**
   * Removes the data of one owner, its identity last: after a crash, what is left is still known. Files of others stay, and with them the
   * folder; they are returned.
   */
  async remove(uid: string): Promise<readonly string[]> {
    const state = await this.inspect();
    if (state.kind === 'foreign' || (state.kind === 'known' && state.identity.uid !== uid)) return [];
    await this.#files.removeFile(this.dataPath);
    await this.#files.removeFile(this.partPath);
    await this.#files.removeFile(this.#identityPath);
    const left = await this.#files.entries(this.path);
    for (const name of left.filter((each) => this.#isTemporary(each)))
      await this.#files.removeFile(join(this.path, name));
    if (await this.#files.removeFolder(this.path)) return [];
    return (await this.#files.entries(this.path)).map((name) => join(this.path, name));
  }
}

export interface DataFolderPlace {
  readonly diskPath: string;
  readonly kind: DataKind;
  readonly name: string;
}

/** The names of all folders of one kind on a disk, also of those that are not ours. */
export async function dataFolderNames(
  files: HostFiles,
  { diskPath, kind }: Pick<DataFolderPlace, 'diskPath' | 'kind'>,
): Promise<readonly string[]> {
  return await files.entries(join(diskPath, subfolders[kind]));
}

/** The API server allows no other names. They become part of paths, so they are checked here too. */
export function isDataName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);
}

function checkDataName(name: string): void {
  if (isDataName(name)) return;
  const shown = JSON.stringify(name.slice(0, 100));
  throw new Error(`${shown} can't be the name of a folder; it must be a DNS subdomain such as image-1`);
}

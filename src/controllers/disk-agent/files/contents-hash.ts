import { createHash } from 'node:crypto';

/** Blocks of this size are left out if they are zero. */
const blockBytes = 65_536;
const zeros = Buffer.alloc(blockBytes);

/**
 * The checksum of a sparse file, in hexadecimal digits: SHA-512 over its blocks of 64 KiB, in order, without those that are all zero; before each block
 * its offset as eight bytes, most significant first. The last block counts as if zeros followed it. So holes need no hashing, and a file that
 * is lengthened keeps its checksum; its length is recorded beside it.
 */
export class ContentsHash {
  readonly #hash = createHash('sha512');
  readonly #offset = Buffer.alloc(8);
  #at = 0;

  /** The next bytes. All but the last are whole blocks. */
  add(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += blockBytes) {
      const block = bytes.subarray(from, from + blockBytes);
      if (zeros.compare(block, 0, block.length, 0, block.length) !== 0) this.#addBlock(block);
      this.#at += blockBytes;
    }
  }

  digest(): string {
    return this.#hash.digest('hex');
  }

  #addBlock(block: Uint8Array): void {
    this.#offset.writeBigUInt64BE(BigInt(this.#at));
    this.#hash.update(this.#offset).update(block);
    if (block.length < blockBytes) this.#hash.update(zeros.subarray(block.length));
  }
}

/** The hash of a file without any data, whatever its length. */
export const emptyContents: string = new ContentsHash().digest();

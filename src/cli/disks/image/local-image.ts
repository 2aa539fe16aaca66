import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileSystemReason } from '../../../io/files/file-system-reason.ts';
import { CliError } from '../../errors/cli-error.ts';

/** A file of this machine that becomes an image. */
export interface LocalImage {
  readonly path: string;
  readonly sizeBytes: number;
  /** SHA-512 in hexadecimal digits. */
  readonly checksum: string;
}

/** Reads all of the file once, for its checksum. */
export async function readLocalImage(path: string, onProgress: (bytes: number) => void): Promise<LocalImage> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new CliError(`${path}: is not a regular file; an image must be one`);
    if (found.size === 0) throw new CliError(`${path}: is empty; an image has at least one byte`);
    const hash = createHash('sha512');
    let bytes = 0;
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      onProgress(bytes);
    }
    if (bytes !== found.size)
      throw new CliError(`${path}: changed while it was read; call the command again`);
    return { path, sizeBytes: bytes, checksum: hash.digest('hex') };
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot read ${path}: ${fileSystemReason(error)}; choose another file`, 1, {
      cause: error,
    });
  }
}

import type { DataFolder } from '../files/data-folder.ts';
import type { ByteSource } from './byte-source.ts';

const chunkBytes = 2 ** 20;

/** The data of another folder of this node, always from the beginning: it is near. */
export function localSource(folder: DataFolder, sha512?: string): ByteSource {
  return {
    open: async () => {
      const file = await folder.openData();
      const totalBytes = await file.size();
      async function* chunks() {
        for (let at = 0; at < totalBytes; ) {
          // The reader may keep a chunk, so each has a separate buffer.
          const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, totalBytes - at));
          const bytes = await file.read(buffer, at);
          if (bytes === 0) return;
          yield buffer.subarray(0, bytes);
          at += bytes;
        }
      }
      const close = () => void file.close();
      return { startsAt: 0, totalBytes, sha512, chunks: chunks(), close };
    },
  };
}

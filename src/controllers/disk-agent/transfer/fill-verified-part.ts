import { createHash } from 'node:crypto';
import { hashesOfPart } from '../files/hash-data.ts';
import { type ByteSource, TransferError } from './byte-source.ts';
import { type FilledPart, type FillOptions, fillPart } from './fill-part.ts';

export interface VerifiedPart extends FilledPart {
  /** The checksum of the contents, as a replica records it. */
  readonly contents: string;
}

/**
 * Fills the part, then reads it again and compares it with what the source sent. The old replica is removed once the new one is complete, so
 * a copy that the disk did not keep must not become complete: it is discarded, and the next attempt begins again.
 *
 * The source must send all of its data: bytes that an earlier attempt received can't be compared.
 */
export async function fillVerifiedPart(
  source: ByteSource,
  options: FillOptions,
  signal: AbortSignal,
): Promise<VerifiedPart> {
  const { folder } = options;
  const received = createHash('sha512');
  const filled = await fillPart(hashed(source, received), options, signal);
  const sent = received.digest('hex');
  const { sha512: read, contents } = await hashesOfPart(folder, signal);
  const problem = sourceProblem(filled.sha512, sent) ?? diskProblem(sent, read, folder.path);
  if (problem === undefined) return { ...filled, contents };
  await folder.discardPart();
  throw new TransferError(problem, { isPermanent: false });
}

function hashed(source: ByteSource, hash: ReturnType<typeof createHash>): ByteSource {
  return {
    open: async (_from, signal) => {
      const stream = await source.open({ offset: 0, validator: undefined }, signal);
      async function* chunks() {
        for await (const chunk of stream.chunks) {
          hash.update(chunk);
          yield chunk;
        }
      }
      return { ...stream, chunks: chunks() };
    },
  };
}

function sourceProblem(recorded: string | undefined, sent: string): string | undefined {
  if (recorded === undefined || recorded === sent) return undefined;
  return `the source has data with the SHA-512 ${sent}, and recorded ${recorded}; it may be damaged`;
}

function diskProblem(sent: string, read: string, path: string): string | undefined {
  if (sent === read) return undefined;
  return `the data in ${path} is not what was written: its SHA-512 is ${read} instead of ${sent}; check the disk`;
}

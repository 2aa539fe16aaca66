import { type IncomingMessage, request } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import { type ByteSource, type ByteStream, TransferError } from './byte-source.ts';
import { withIdleLimit } from './idle-limit.ts';
import { pinnedSocket } from './pinned-socket.ts';

export interface AgentSourceOptions {
  /** `StorageNode.status.upload` of the other node. */
  readonly url: string;
  readonly certificateSHA256: string;
  /** `/images/NAME/data` or `/replicas/NAME/data`. */
  readonly path: string;
  readonly token: string;
  readonly clock: Clock;
}

const idleMaxMs = 60_000;

/** The data of a folder of another agent, which is recognized by its certificate: the token is sent to no other server. */
export function agentSource(options: AgentSourceOptions): ByteSource {
  const { url, path, clock } = options;
  const what = `the agent at ${url}`;
  return {
    open: async ({ offset, validator }, signal) => {
      const limit = { clock, idleMaxMs, what };
      const openAt = async (start: number) => {
        const socket = await withIdleLimit(pinnedSocket(options, signal), limit);
        return streamOf(await withIdleLimit(get(socket, options, start), limit), {
          offset: start,
          path,
          limit,
        });
      };
      try {
        const stream = await openAt(offset);
        if (offset === 0 || stream.validator === validator) return stream;
        // The bytes before the offset came from elsewhere.
        stream.close();
        return await openAt(0);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof TransferError) throw error;
        throw new TransferError(`${what} can't be reached: ${messageOf(error)}`, {
          isPermanent: false,
          cause: error,
        });
      }
    },
  };
}

function get(
  socket: TLSSocket,
  { url, path, token }: AgentSourceOptions,
  offset: number,
): Promise<IncomingMessage> {
  const headers = {
    host: new URL(url).host,
    authorization: `Bearer ${token}`,
    ...(offset > 0 && { range: `bytes=${offset}-` }),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ createConnection: () => socket, path, headers }, resolve);
    sent.on('error', reject);
    sent.end();
  });
}

interface AgentAnswer {
  readonly offset: number;
  readonly path: string;
  readonly limit: { readonly clock: Clock; readonly idleMaxMs: number; readonly what: string };
}

function streamOf(response: IncomingMessage, { offset, path, limit }: AgentAnswer): ByteStream {
  const { statusCode = 0, headers } = response;
  const totalBytes = Number(headers['x-stowage-size']);
  const isRight = statusCode === (offset > 0 ? 206 : 200) && Number.isSafeInteger(totalBytes);
  if (!isRight) {
    response.destroy();
    // The other agent may not have seen the token yet, or may be about to remove its copy.
    const message = `${limit.what} answered ${path} with status ${statusCode}`;
    throw new TransferError(message, { isPermanent: false });
  }
  const sha512 = String(headers['x-stowage-sha512'] ?? '') || undefined;
  const isEmpty = headers['x-stowage-occupied'] === '0' && sha512 === undefined;
  async function* chunks() {
    const iterator = response[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await withIdleLimit(iterator.next(), limit);
        if (next.done) return;
        yield next.value as Buffer;
      }
    } catch (error) {
      if (error instanceof TransferError) throw error;
      throw new TransferError(`${limit.what} broke off: ${messageOf(error)}`, {
        isPermanent: false,
        cause: error,
      });
    } finally {
      response.destroy();
    }
  }
  const close = () => void response.destroy();
  // The validator is the checksum: as long as it is the same, the bytes are.
  const common = { startsAt: offset, validator: sha512, sha512, close };
  // Nothing was ever written there, so there is nothing to send.
  if (isEmpty)
    return { ...common, totalBytes: 0, unsentZeroBytes: totalBytes, chunks: (async function* () {})() };
  return { ...common, totalBytes, chunks: chunks() };
}

import type { IncomingMessage } from 'node:http';
import { failure } from '../../api-error.ts';
import { ClientGone } from './exchange.ts';

/** The largest body that is taken, as of the real server. */
const bodyMaxBytes = 3 * 1024 * 1024;
/** Of all bodies that are being received at one time. */
const allBodiesMaxBytes = 128 * 1024 * 1024;

/**
 * Receives bodies, each within its limit and all together within theirs: a thousand clients that send large bodies slowly
 * must not fill the memory.
 */
export class BodyReceiver {
  readonly #onRefused: () => void;
  #heldBytes = 0;

  constructor(onRefused: () => void) {
    this.#onRefused = onRefused;
  }

  receive(message: IncomingMessage): Promise<Buffer> {
    if (Number(message.headers['content-length'] ?? 0) > bodyMaxBytes) return Promise.reject(tooLarge());
    if (message.destroyed) return Promise.reject(new ClientGone());
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const take = (chunk: Buffer) => {
        bytes += chunk.length;
        this.#heldBytes += chunk.length;
        chunks.push(chunk);
        if (bytes > bodyMaxBytes) settle(() => reject(tooLarge()));
        else if (this.#heldBytes > allBodiesMaxBytes) settle(() => reject(this.#tooMany()));
      };
      const finish = () => settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
      const giveUp = () => settle(() => reject(new ClientGone()));
      const settle = (act: () => void) => {
        this.#heldBytes -= bytes;
        // Refused or not, the rest is received and dropped: a client that still sends would not read our answer.
        message.resume();
        message.off('data', take).off('end', finish).off('close', giveUp);
        act();
      };
      // An error is followed by 'close'; unheard it would end the process.
      message.on('error', () => {});
      message.on('data', take).on('end', finish).on('close', giveUp);
    });
  }

  #tooMany(): Error {
    this.#onRefused();
    const message = 'the server has received too many requests and has asked us to try again later';
    return failure(429, 'TooManyRequests', message, { retryAfterSeconds: 1 });
  }
}

function tooLarge(): Error {
  return failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${bodyMaxBytes}`);
}

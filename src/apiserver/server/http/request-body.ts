import type { IncomingMessage } from 'node:http';
import { failure } from '../../../kube/api-error.ts';
import { assert } from '../../../runtime/assert.ts';
import type { Clock, Timer } from '../../../runtime/clock.ts';
import { ClientDisconnected } from './http-exchange.ts';

/** The largest accepted body; kube-apiserver's limit. */
const bodyMaxBytes = 3 * 1024 * 1024;
/** The maximum of all bodies being received at one time. */
const allBodiesMaxBytes = 128 * 1024 * 1024;
/**
 * How long a body may take to arrive. Shorter than the limit for the whole request, so that the sender gets a response
 * with the reason.
 */
const bodyMaxMs = 40_000;

export interface BodyReceiverOptions {
  readonly clock: Clock;
  /** Called when a body is refused because all bodies together exceed the limit. */
  onRefused(): void;
  readonly allBodiesMaxBytes?: number | undefined;
}

/**
 * Receives bodies within a limit for each and a limit for all together, so that many clients sending large bodies
 * slowly cannot exhaust the memory.
 *
 * Such clients must not block others either. When the total is exceeded, the receiver refuses the slowest body of the
 * sender that holds the most bytes, which need not be the sender of the latest chunk. So concurrent senders share the
 * memory fairly, and a single sender may use all of it.
 */
export class BodyReceiver {
  readonly #options: BodyReceiverOptions;
  readonly #maxBytes: number;
  readonly #uploads = new Set<Upload>();
  #heldBytes = 0;

  constructor(options: BodyReceiverOptions) {
    this.#options = options;
    this.#maxBytes = options.allBodiesMaxBytes ?? allBodiesMaxBytes;
  }

  receive(message: IncomingMessage, sender: string): Promise<Buffer> {
    if (Number(message.headers['content-length'] ?? 0) > bodyMaxBytes) return Promise.reject(tooLarge());
    if (message.destroyed) return Promise.reject(new ClientDisconnected());
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const take = (chunk: Buffer) => {
        chunks.push(chunk);
        upload.bytes += chunk.length;
        this.#heldBytes += chunk.length;
        if (upload.bytes > bodyMaxBytes) upload.refuse(tooLarge());
        while (this.#heldBytes > this.#maxBytes) this.#freeMemory();
      };
      const finish = () => {
        settle();
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
      };
      const giveUp = () => upload.refuse(new ClientDisconnected());
      const settle = () => {
        this.#forget(upload);
        // The rest is received and dropped even after a refusal: a client that is still sending would not read the
        // response.
        message.resume();
        message.off('data', take).off('end', finish).off('close', giveUp);
      };
      const refuse = (error: Error) => {
        settle();
        reject(error);
      };
      const upload = this.#begin(sender, refuse);
      // 'close' follows an error; without a listener the error would end the process.
      message.on('error', () => {});
      message.on('data', take).on('end', finish).on('close', giveUp);
    });
  }

  #begin(sender: string, refuse: (error: Error) => void): Upload {
    const { clock } = this.#options;
    const deadline = clock.after(bodyMaxMs, () => refuse(tooSlow()));
    const upload = { sender, startedMs: clock.monotonicMs(), deadline, refuse, bytes: 0 };
    this.#uploads.add(upload);
    return upload;
  }

  #forget(upload: Upload): void {
    upload.deadline.cancel();
    this.#uploads.delete(upload);
    this.#heldBytes -= upload.bytes;
  }

  #freeMemory(): void {
    const greediest = mostOf(heldBySender(this.#uploads));
    const nowMs = this.#options.clock.monotonicMs();
    let slowest: Upload | undefined;
    for (const upload of this.#uploads) {
      if (upload.sender !== greediest || upload.bytes === 0) continue;
      if (slowest === undefined || speedOf(upload, nowMs) < speedOf(slowest, nowMs)) slowest = upload;
    }
    assert(slowest !== undefined, 'bytes are held, so some upload holds them');
    this.#options.onRefused();
    slowest.refuse(tooMany());
  }
}

/** A body that is being received. */
interface Upload {
  readonly sender: string;
  readonly startedMs: number;
  readonly deadline: Timer;
  readonly refuse: (error: Error) => void;
  bytes: number;
}

function heldBySender(uploads: Iterable<Upload>): ReadonlyMap<string, number> {
  const held = new Map<string, number>();
  for (const { sender, bytes } of uploads) held.set(sender, (held.get(sender) ?? 0) + bytes);
  return held;
}

function mostOf(held: ReadonlyMap<string, number>): string {
  let [most, mostBytes] = ['', -1];
  for (const [sender, bytes] of held) if (bytes > mostBytes) [most, mostBytes] = [sender, bytes];
  return most;
}

function speedOf({ bytes, startedMs }: Upload, nowMs: number): number {
  return bytes / Math.max(1, nowMs - startedMs);
}

function tooMany(): Error {
  const message = 'the server has received too many requests and has asked us to try again later';
  return failure(429, 'TooManyRequests', message, { retryAfterSeconds: 1 });
}

function tooLarge(): Error {
  return failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${bodyMaxBytes}`);
}

function tooSlow(): Error {
  const message = `the body of the request did not arrive within ${bodyMaxMs / 1000} seconds`;
  return failure(408, 'Timeout', message);
}

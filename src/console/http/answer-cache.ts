import type { Clock } from '../../runtime/clock.ts';

/** An answer is made again at most so often, and never for more than a tenth of the time: the process has other work. */
const remakeMinMs = 500;
const shareOfTime = 10;
/** Viewers with different permissions have different answers. */
const answersMax = 100;
/** All answers together. The newest is kept whatever its size. */
const defaultBytesMax = 32 * 2 ** 20;

interface Kept {
  readonly position: string;
  readonly json: Promise<Buffer>;
  notBeforeMs: number;
  /** 0 until the answer is made. */
  bytes: number;
}

/**
 * The JSON of answers that cost much, by question. An answer is kept until the cluster has changed, and for a while longer if it cost much.
 * It is kept as bytes and not as objects: so its memory is known, and several viewers are answered from one conversion.
 */
export class AnswerCache {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  /** The oldest first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(clock: Clock, bytesMax = defaultBytesMax) {
    this.#clock = clock;
    this.#bytesMax = bytesMax;
  }

  /** The bytes of the answers that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  async get(key: string, position: string, make: () => Promise<unknown>): Promise<Buffer> {
    const known = this.#kept.get(key);
    const nowMs = this.#clock.monotonicMs();
    if (known !== undefined && (known.position === position || nowMs < known.notBeforeMs))
      return await known.json;
    const json = jsonOf(make);
    const kept: Kept = { position, json, notBeforeMs: Number.POSITIVE_INFINITY, bytes: 0 };
    this.#drop(key);
    this.#kept.set(key, kept);
    try {
      this.#count(key, kept, (await json).length);
      return await json;
    } catch (error) {
      if (this.#kept.get(key) === kept) this.#drop(key);
      throw error;
    } finally {
      const endMs = this.#clock.monotonicMs();
      kept.notBeforeMs = endMs + Math.max(remakeMinMs, shareOfTime * (endMs - nowMs));
      this.#dropOldest();
    }
  }

  /** Nothing, if the answer was dropped while it was made. */
  #count(key: string, kept: Kept, bytes: number): void {
    if (this.#kept.get(key) !== kept) return;
    kept.bytes = bytes;
    this.#bytes += bytes;
  }

  #dropOldest(): void {
    for (const key of this.#kept.keys()) {
      const isWithinLimits = this.#kept.size <= answersMax && this.#bytes <= this.#bytesMax;
      if (isWithinLimits || this.#kept.size === 1) return;
      this.#drop(key);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

async function jsonOf(make: () => Promise<unknown>): Promise<Buffer> {
  return Buffer.from(JSON.stringify(await make()));
}

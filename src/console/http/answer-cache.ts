import type { Clock } from '../../runtime/clock.ts';

/** An answer is made again at most so often, and never for more than a tenth of the time: the process has other work. */
const remakeMinMs = 500;
const shareOfTime = 10;
/** Viewers with different rights have different answers. */
const answersMax = 100;

interface Kept {
  readonly position: string;
  readonly answer: Promise<unknown>;
  notBeforeMs: number;
}

/** Answers that cost much, by question. An answer is kept until the cluster has changed, and for a while longer if it cost much. */
export class AnswerCache {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async get<T>(key: string, position: string, make: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(key);
    const nowMs = this.#clock.monotonicMs();
    // Safe: a key belongs to one kind of answer.
    if (known !== undefined && (known.position === position || nowMs < known.notBeforeMs))
      return (await known.answer) as T;
    const answer = make();
    const kept: Kept = { position, answer, notBeforeMs: Number.POSITIVE_INFINITY };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    this.#dropOldest();
    try {
      return await answer;
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    } finally {
      const endMs = this.#clock.monotonicMs();
      kept.notBeforeMs = endMs + Math.max(remakeMinMs, shareOfTime * (endMs - nowMs));
    }
  }

  #dropOldest(): void {
    if (this.#kept.size <= answersMax) return;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }
}

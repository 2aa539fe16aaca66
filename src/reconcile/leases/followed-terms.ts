import { onAbort } from '../../runtime/abort.ts';

type Work = (signal: AbortSignal) => Promise<void>;

/**
 * The terms in which this process leads one controller, for controllers that can only work beside it: they are candidates during these terms, so that
 * no process leads one of them while another process leads the controller that they need.
 */
export class FollowedTerms {
  #term: AbortSignal | undefined;
  readonly #waiting = new Set<() => void>();

  /** The work of the controller that is followed. A term lasts as long as this work. */
  lead(work: Work): Work {
    return async (signal) => {
      const end = new AbortController();
      this.#term = AbortSignal.any([signal, end.signal]);
      for (const wake of [...this.#waiting]) wake();
      try {
        await work(signal);
      } finally {
        this.#term = undefined;
        end.abort();
      }
    };
  }

  /** Does the work during each term, until `signal` aborts or the work ends by itself. */
  async follow(work: Work, signal: AbortSignal): Promise<void> {
    for (;;) {
      const term = await this.#nextTerm(signal);
      if (term === undefined) return;
      await work(AbortSignal.any([term, signal]));
      if (!term.aborted) return;
    }
  }

  /** The term under way, or the next one; undefined if `signal` aborts before it. */
  async #nextTerm(signal: AbortSignal): Promise<AbortSignal | undefined> {
    if (signal.aborted) return undefined;
    if (this.#term !== undefined && !this.#term.aborted) return this.#term;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        stopListening();
        resolve();
      };
      const stopListening = onAbort(signal, wake);
      this.#waiting.add(wake);
    });
    return signal.aborted ? undefined : this.#term;
  }
}

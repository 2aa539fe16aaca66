import type { EndedCall } from './served-driver.ts';

/** Those who want to know when calls to a driver end. */
export class CallListeners {
  readonly #listeners = new Set<(call: EndedCall) => void>();

  add(listener: (call: EndedCall) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Runs the call, and reports its end before the caller continues. */
  async observe<T>({ method, request }: Omit<EndedCall, 'error'>, call: () => Promise<T>): Promise<T> {
    try {
      const reply = await call();
      this.#report({ method, request, error: undefined });
      return reply;
    } catch (error) {
      this.#report({ method, request, error });
      throw error;
    }
  }

  #report(call: EndedCall): void {
    for (const listener of this.#listeners) listener(call);
  }
}

/** Runs tasks with the same key one after the other, in the order of their calls, and others concurrently. */
export class KeyedQueue {
  /** The last task of each key that has not ended. */
  readonly #last = new Map<string, Promise<unknown>>();

  async run<R>(key: string, task: () => Promise<R>): Promise<R> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const own = before.then(task, task);
    this.#last.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(key) === own) this.#last.delete(key);
    }
  }
}

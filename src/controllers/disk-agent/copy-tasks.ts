import { assert } from '../../runtime/assert.ts';

/** Long work on files, at most one for each key. It ends with the agent, or when its key is stopped. */
export class CopyTasks {
  readonly #running = new Map<string, RunningTask>();
  #isClosed = false;

  has(key: string): boolean {
    return this.#running.has(key);
  }

  get size(): number {
    return this.#running.size;
  }

  /** Starts work that handles its own errors. */
  start(key: string, work: (signal: AbortSignal) => Promise<void>): void {
    void this.run(key, work);
  }

  /** Runs work as the task of the key, and returns its result. */
  async run<T>(key: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    assert(!this.#running.has(key), `a task for ${key} is running already`);
    const abort = new AbortController();
    if (this.#isClosed) abort.abort();
    const result = work(abort.signal).finally(() => this.#running.delete(key));
    const ended = result.then(
      () => {},
      () => {},
    );
    this.#running.set(key, { abort, ended });
    return await result;
  }

  /** Resolves when no task of the key runs. */
  async stop(key: string): Promise<void> {
    const task = this.#running.get(key);
    task?.abort.abort();
    await task?.ended;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running.keys()].map((key) => this.stop(key)));
  }
}

interface RunningTask {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

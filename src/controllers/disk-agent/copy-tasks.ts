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
    assert(!this.#running.has(key), `a task for ${key} is running already`);
    if (this.#isClosed) return;
    const abort = new AbortController();
    const ended = work(abort.signal).finally(() => this.#running.delete(key));
    this.#running.set(key, { abort, ended });
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

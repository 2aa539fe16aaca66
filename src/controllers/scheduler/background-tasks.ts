import type { ControllerContext } from '../../reconcile/controller.ts';

/** Work that runs concurrently with the decisions. Errors are reported and never thrown; `settled` waits for all of it at shutdown. */
export class BackgroundTasks {
  readonly #context: Pick<ControllerContext, 'report'>;
  readonly #signal: AbortSignal;
  readonly #running = new Set<Promise<void>>();

  constructor(context: Pick<ControllerContext, 'report'>, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
  }

  /** `key` names the object that errors are reported for. */
  start(key: string, work: Promise<void>): void {
    const safe = work
      .catch((error) => {
        if (!this.#signal.aborted) this.report(key, error);
      })
      .finally(() => this.#running.delete(safe));
    this.#running.add(safe);
  }

  report(key: string, error: unknown): void {
    this.#context.report({ controller: 'scheduler', key, error });
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}

import { StowageProcess } from '../../up/stowage-process.ts';
import { until } from './run-scheduler.ts';

const leads = 'scheduler: this process leads';
const hasLost = 'scheduler: the lead is lost';

/** Several replicas of `stowage run`. If one exits, another is started, as a Deployment would. */
export class Replicas implements AsyncDisposable {
  readonly #kubeconfig: string;
  readonly #running: StowageProcess[] = [];
  readonly #ended: StowageProcess[] = [];
  #isOver = false;

  constructor(kubeconfig: string, count: number) {
    this.#kubeconfig = kubeconfig;
    for (let number = 0; number < count; number += 1) this.#start();
  }

  /** The output of all replicas that have exited, in that order. */
  get endings(): readonly string[] {
    return this.#ended.map(({ stderr }) => stderr);
  }

  get logs(): string {
    return [...this.#ended, ...this.#running].map(({ pid, stderr }) => `--- ${pid}\n${stderr}`).join('');
  }

  /** The leader, if it is not `former`; waits until there is one. */
  async leader(former?: StowageProcess): Promise<StowageProcess> {
    const find = () =>
      this.#running.find((each) => {
        return each !== former && each.stderr.includes(leads) && !each.stderr.includes(hasLost);
      });
    await until(() => find() !== undefined);
    return find() ?? (await this.leader(former));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running.map((each) => each.kill()));
  }

  #start(): void {
    const started = new StowageProcess(['run', '--kubeconfig', this.#kubeconfig]);
    this.#running.push(started);
    started.exited.then(() => {
      this.#running.splice(this.#running.indexOf(started), 1);
      this.#ended.push(started);
      if (!this.#isOver) this.#start();
    });
  }
}

import type { DriveHost } from '../host/drive-host.ts';

/** Where a process ends: behind its n-th step, counted from 1; 0 never. */
export class CrashPlan {
  crashAfter = 0;
  #steps = 0;

  get hasCrashed(): boolean {
    return this.crashAfter > 0 && this.#steps >= this.crashAfter;
  }

  /** Starts to count again. */
  plan(crashAfter: number): void {
    this.crashAfter = crashAfter;
    this.#steps = 0;
  }

  /** Runs something that changes nothing: no step, but after its end the process does not read either. */
  async read<R>(run: () => Promise<R>): Promise<R> {
    if (this.hasCrashed) throw new CrashError();
    return await run();
  }

  /** Runs a step. Behind the planned one the process has ended: neither that step nor any later one returns, and no later one runs. */
  async step<R>(run: () => Promise<R>): Promise<R> {
    if (this.hasCrashed) throw new CrashError();
    const result = await run();
    this.#steps += 1;
    if (this.hasCrashed) throw new CrashError();
    return result;
  }
}

/** The process ended. */
class CrashError extends Error {
  override readonly name = 'CrashError';

  constructor() {
    super('the process has ended');
  }
}

/** Methods of a host that change nothing. */
const readers: ReadonlySet<string | symbol> = new Set([
  'mounts',
  'devicesWith',
  'hasDevice',
  'usage',
  'find',
  'isEmpty',
  'names',
  'remains',
]);

/** A host on which every method that changes something is a step of the plan. */
export function crashingHost(host: DriveHost, plan: CrashPlan): DriveHost {
  return stepped(host, plan);
}

function stepped<T extends object>(target: T, plan: CrashPlan): T {
  return new Proxy(target, {
    get: (object, key) => {
      const value = Reflect.get(object, key) as unknown;
      if (typeof value === 'function')
        return (...args: readonly unknown[]) => {
          const call = async () => await value.apply(object, args);
          return readers.has(key) ? plan.read(call) : plan.step(call);
        };
      return typeof value === 'object' && value !== null && (key === 'directories' || key === 'quota')
        ? stepped(value, plan)
        : value;
    },
  });
}

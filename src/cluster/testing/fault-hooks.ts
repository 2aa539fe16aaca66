import type { KubeObject } from '../../kube/api/meta.ts';
import type { WatchEvent } from '../../kube/api-requests.ts';
import type { Resource } from '../../kube/resource.ts';
import { onAbort } from '../../runtime/abort.ts';
import type {
  ClusterCall,
  ClusterHook,
  ClusterHooks,
  ClusterVerb,
  InterceptedCluster,
  WatchEventOutcome,
} from '../intercepted-cluster.ts';

/* The usual faults of a connection to a cluster, as hooks of an `InterceptedCluster`. */

/** Every call fails. As `before`, the cluster never sees the call; as `after`, only the answer is lost. */
export function failWith(error: unknown): ClusterHook {
  return () => {
    throw error;
  };
}

/** The next calls of a verb fail before they reach the cluster, one error each. */
export function failNext(verb: ClusterVerb, ...errors: readonly unknown[]): ClusterHooks {
  const left = [...errors];
  return {
    before: (call) => {
      if (call.verb === verb && left.length > 0) throw left.shift();
    },
  };
}

/** The first call that `isAffected` selects fails before it reaches the cluster. */
export function failOnce(isAffected: (call: ClusterCall) => boolean, error: unknown): ClusterHooks {
  let hasFailed = false;
  return {
    before: (call) => {
      if (hasFailed || !isAffected(call)) return;
      hasFailed = true;
      throw error;
    },
  };
}

/** No call is ever answered; it ends when its caller aborts it. */
export function hang(): ClusterHook {
  return ({ signal }) =>
    new Promise((_, reject) => {
      if (signal !== undefined) onAbort(signal, () => reject(signal.reason));
    });
}

/** Applies `before`, `answer`, `after` and `failed` only to the calls that `isAffected` selects, and `onWatchEvent` to all watches. */
export function onlyFor(isAffected: (call: ClusterCall) => boolean, hooks: ClusterHooks): ClusterHooks {
  const { before, answer, after, failed } = hooks;
  return {
    ...hooks,
    before: (call) => (isAffected(call) ? before?.(call) : undefined),
    answer: (call) => (isAffected(call) ? answer?.(call) : undefined),
    after: (call) => (isAffected(call) ? after?.(call) : undefined),
    failed: (call, error) => (isAffected(call) ? failed?.(call, error) : undefined),
  };
}

const writeVerbs: ReadonlySet<ClusterVerb> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deleteCollection',
  'post',
]);

function isWrite({ verb }: ClusterCall): boolean {
  return writeVerbs.has(verb);
}

/** A write to anything but Events, which are written in the background and retried on their own. */
export function isObjectWrite(call: ClusterCall): boolean {
  return isWrite(call) && call.resource.plural !== 'events';
}

/** Returns a list that grows with every attempted call from now on, including calls that fail. */
export function recordCalls(
  cluster: InterceptedCluster,
  isRecorded: (call: ClusterCall) => boolean = () => true,
): readonly ClusterCall[] {
  const calls: ClusterCall[] = [];
  cluster.addHooks({ before: (call) => void (isRecorded(call) && calls.push(call)) });
  return calls;
}

export function verbsOf(calls: readonly ClusterCall[]): readonly ClusterVerb[] {
  return calls.map(({ verb }) => verb);
}

/** The next call of one verb on one resource is answered with `value`, and the cluster is not called. */
export function answerOnce(verb: ClusterVerb, { plural }: Resource, value: unknown): ClusterHooks {
  let isAnswered = false;
  return {
    answer: (call) => {
      if (isAnswered || call.verb !== verb || call.resource.plural !== plural) return undefined;
      isAnswered = true;
      return { value };
    },
  };
}

/**
 * The connection breaks after so many writes, as if the client had crashed: the last write takes place, but the client receives no
 * answer, and all later calls fail. Open watches continue.
 */
export class CrashAfterWrites implements ClusterHooks {
  readonly #writesMax: number;
  #begun = 0;
  #written = 0;
  #onCrashed = () => {};
  /** Resolves when the last write is done. */
  readonly crashed = new Promise<void>((resolve) => {
    this.#onCrashed = resolve;
  });

  constructor(writesMax: number) {
    this.#writesMax = writesMax;
  }

  /** Writes that are done, including those that failed. */
  get written(): number {
    return this.#written;
  }

  get hasCrashed(): boolean {
    return this.#written >= this.#writesMax;
  }

  readonly before = (call: ClusterCall): void => {
    if (call.verb === 'watch') return;
    if (this.#begun >= this.#writesMax) throw connectionLost();
    if (isWrite(call)) this.#begun += 1;
  };

  readonly after = (call: ClusterCall): void => {
    this.failed(call);
    if (this.hasCrashed) throw connectionLost();
  };

  readonly failed = (call: ClusterCall): void => {
    if (!isWrite(call)) return;
    this.#written += 1;
    if (this.#written === this.#writesMax) this.#onCrashed();
  };
}

function connectionLost(): Error {
  return new Error('the connection to the cluster is lost');
}

/** Holds the watch events of one resource back between `hold` and `release`. */
export class WatchGate implements ClusterHooks {
  readonly #plural: string;
  #held: Promise<void> | undefined;
  #open = () => {};

  constructor({ plural }: Resource) {
    this.#plural = plural;
  }

  /** From now on no event is delivered. */
  hold(): void {
    this.#held ??= new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** Delivers all events that were held back, in order. */
  release(): void {
    this.#open();
    this.#held = undefined;
  }

  readonly onWatchEvent = async ({ resource }: ClusterCall): Promise<undefined> => {
    if (resource.plural === this.#plural) await this.#held;
    return undefined;
  };
}

/** Every watch event is delivered after `delay` has resolved. */
export function delayWatch(delay: () => unknown): ClusterHooks {
  return {
    onWatchEvent: async () => {
      await delay();
      return undefined;
    },
  };
}

export function dropBookmarks(): ClusterHooks {
  return {
    onWatchEvent: (_, event: WatchEvent<KubeObject>) => (event.type === 'BOOKMARK' ? 'drop' : undefined),
  };
}

/** Watches that begin from now on end regularly after so many events; with 0, as soon as they have begun. */
export function endWatchesAfter(eventsMax: number): ClusterHooks {
  const delivered = new WeakMap<ClusterCall, number>();
  return {
    answer: ({ verb }) => (verb === 'watch' && eventsMax === 0 ? { value: [] } : undefined),
    before: (call) => void (call.verb === 'watch' && delivered.set(call, 0)),
    onWatchEvent: (call): WatchEventOutcome => {
      const before = delivered.get(call);
      if (before === undefined) return undefined;
      delivered.set(call, before + 1);
      return before + 1 >= eventsMax ? 'last' : undefined;
    },
  };
}

import type {
  AnswerOverride,
  ClusterCall,
  ClusterHooks,
  WatchEventOutcome,
} from '../../cluster/intercepted-cluster.ts';
import { failure } from '../../kube/api-error.ts';
import { qualifiedPlural } from '../../kube/resource.ts';
import type { FreezableClock } from '../../runtime/freezable-clock.ts';
import type { Random } from '../../runtime/random.ts';

/** What can happen to one call. */
export type CallFault =
  /** Another writer was faster: the server refuses the write. */
  | 'conflict'
  /** The server refuses everything for the moment. */
  | 'unavailable'
  /** The request is lost. */
  | 'lost-request'
  /** The request takes effect, and its response is lost. */
  | 'lost-response'
  /** The client stops waiting; the request arrives later. */
  | 'late-request'
  /** A proxy sends the request twice; the client gets the second response. */
  | 'repeated-request'
  /** The process ends before the request leaves it. */
  | 'crash-before'
  /** The process ends after the request took effect, before it gets the response. */
  | 'crash-after';

export const callFaults: readonly CallFault[] = [
  'conflict',
  'unavailable',
  'lost-request',
  'lost-response',
  'late-request',
  'repeated-request',
  'crash-before',
  'crash-after',
];

export interface ConnectionOptions {
  readonly clock: FreezableClock;
  readonly random: Random;
  readonly latencyMaxMs: number;
  /** Called when a fault takes place. */
  readonly onFault: (fault: CallFault, call: ClusterCall) => void;
  /** Ends the process. */
  readonly onCrash: () => void;
  /** Called before a late write arrives whose process has ended, or has lost its Lease. */
  readonly onWriteAfterEnd: (call: ClusterCall) => void;
}

const never = new AbortController().signal;
/** How long a client waits for a response that does not come. */
const timeoutMs = 5_000;
const lateMaxMs = 20_000;

/** The post is the binding of a pod. */
const versioned: ReadonlySet<string> = new Set(['update', 'patch', 'post']);
const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'post']);

/** The connection of one process: latency, and faults that wait for their call. */
export class ConnectionFaults implements ClusterHooks {
  readonly #options: ConnectionOptions;
  readonly #armed: ArmedFault[] = [];
  readonly #hitting = new Map<ClusterCall, CallFault>();
  readonly #stalledUntilMs = new Map<string, number>();
  #partitionedUntilMs = 0;
  #isDead = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** The fault hits a write after `skipped` other writes that it could hit: of Leases, or of anything else. */
  arm(armed: ArmedFault): void {
    this.#armed.push({ ...armed });
  }

  /** Watch events of the resource are held back; all of them with `*`. */
  stall(resource: string, forMs: number): void {
    this.#stalledUntilMs.set(resource, this.#options.clock.monotonicMs() + forMs);
  }

  /** Nothing that the process sends gets a response. Half of its writes arrive, later. Watches deliver nothing. */
  partition(forMs: number): void {
    this.#partitionedUntilMs = this.#options.clock.monotonicMs() + forMs;
    this.stall('*', forMs);
  }

  /** No fault takes place from now on. */
  heal(): void {
    this.#armed.length = 0;
    this.#partitionedUntilMs = 0;
    this.#stalledUntilMs.clear();
  }

  /** From now on nothing is sent, and no response arrives. */
  kill(): void {
    this.#isDead = true;
  }

  readonly before = async (call: ClusterCall): Promise<void> => {
    await this.#travel();
    if (this.#options.clock.monotonicMs() < this.#partitionedUntilMs) await this.#lose(call);
    const armed = this.#next(call);
    if (armed === undefined) return;
    const { fault } = armed;
    this.#options.onFault(fault, call);
    if (fault === 'crash-before') this.#crash();
    if (fault === 'conflict') throw failure(409, 'Conflict', 'the object has been modified (simulated)');
    if (fault === 'unavailable')
      throw failure(503, 'ServiceUnavailable', 'the server is not available (simulated)');
    if (fault === 'late-request') this.#sendLater(call, armed.lateMs);
    if (fault === 'late-request' || fault === 'lost-request') await this.#timeOut();
    this.#hitting.set(call, fault);
  };

  readonly answer = (call: ClusterCall): AnswerOverride | undefined => {
    if (this.#hitting.get(call) !== 'repeated-request') return undefined;
    return { value: call.send().then(() => call.send()) };
  };

  readonly after = async (call: ClusterCall): Promise<void> => {
    const fault = this.#hitting.get(call);
    this.#hitting.delete(call);
    if (fault === 'crash-after') this.#crash();
    if (fault === 'lost-response') await this.#timeOut();
    await this.#travel();
  };

  readonly failed = (call: ClusterCall): void => {
    if (this.#hitting.get(call) === 'crash-after') this.#crash();
    this.#hitting.delete(call);
  };

  readonly onWatchEvent = async ({ resource }: ClusterCall): Promise<WatchEventOutcome> => {
    const { clock } = this.#options;
    await this.#travel();
    for (const name of ['*', qualifiedPlural(resource)]) {
      for (;;) {
        const restMs = (this.#stalledUntilMs.get(name) ?? 0) - clock.monotonicMs();
        if (restMs <= 0 || this.#isDead) break;
        await clock.sleep(Math.min(restMs, 500), never);
      }
    }
    return undefined;
  };

  async #travel(): Promise<void> {
    const { clock, random, latencyMaxMs } = this.#options;
    if (latencyMaxMs > 0 || clock.isFrozen) await clock.sleep(random.int(latencyMaxMs + 1), never);
    if (this.#isDead) throw new Error('the process has ended');
  }

  async #timeOut(): Promise<never> {
    await this.#options.clock.sleep(timeoutMs, never);
    throw failure(504, 'Timeout', 'there was no response (simulated)');
  }

  async #lose(call: ClusterCall): Promise<never> {
    if (writes.has(call.verb) && this.#options.random.int(2) === 0) this.#sendLater(call);
    return await this.#timeOut();
  }

  /**
   * A binding of a pod does not arrive after its process has ended or lost its Lease: what is reserved for the pod is known to that
   * process alone. If it did, the pod could be one too many on its node, as with kube-scheduler, and the kubelet would refuse it.
   */
  #sendLater(call: ClusterCall, lateMs?: number): void {
    const { clock, random } = this.#options;
    clock.after(lateMs ?? random.int(lateMaxMs), () => {
      const hasEnded = this.#isDead || call.signal?.aborted === true;
      if (call.verb === 'post' && hasEnded) return;
      if (hasEnded) this.#options.onWriteAfterEnd(call);
      void call.send().catch(() => {});
    });
  }

  #crash(): never {
    this.kill();
    this.#options.onCrash();
    throw new Error('the process has ended');
  }

  #next(call: ClusterCall): ArmedFault | undefined {
    if (!writes.has(call.verb) || call.resource.plural === 'events') return undefined;
    const isLease = call.resource.plural === 'leases';
    const at = this.#armed.findIndex(
      ({ fault, hitsLeases, resource = call.resource.plural }) =>
        hitsLeases === isLease && resource === call.resource.plural && canHit(fault, call),
    );
    const armed = this.#armed[at];
    if (armed === undefined) return undefined;
    if (armed.skipped > 0) {
      armed.skipped -= 1;
      return undefined;
    }
    this.#armed.splice(at, 1);
    return armed;
  }
}

export interface ArmedFault {
  readonly fault: CallFault;
  readonly hitsLeases: boolean;
  skipped: number;
  /** The plural of the resource whose writes it hits. Default: any. */
  readonly resource?: string;
  /** When a late request arrives, after it was sent. Default: it is drawn. */
  readonly lateMs?: number;
}

/** Only a write that carries a version can conflict. */
function canHit(fault: CallFault, { verb }: ClusterCall): boolean {
  return fault !== 'conflict' || versioned.has(verb);
}

import type { ResourceClient } from '../../cluster/cluster.ts';
import type { Lease, LeaseSpec } from '../../kube/api/coordination.ts';
import { isReason } from '../../kube/api-error.ts';
import { formatMicroTime } from '../../kube/go/timestamp.ts';
import type { ObjectKey } from '../../kube/resource.ts';
import { onAbort } from '../../runtime/abort.ts';
import { assert } from '../../runtime/assert.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';

/** The defaults of kube-scheduler and most controllers. */
const leaseDurationMsDefault = 15_000;
const renewDeadlineMsDefault = 10_000;
const retryPeriodMsDefault = 2_000;
/** Candidates wait up to 2.2 retry periods, so that they do not all try at the same time. */
const jitterFactor = 1.2;
/** The duration that a leader writes when it steps down, so that no candidate has to wait for the whole lease. */
const releasedDurationSeconds = 1;

export interface LeaderElectionOptions {
  readonly leases: ResourceClient<Lease>;
  /** The lease that the candidates share. */
  readonly lease: ObjectKey;
  /** The name of this candidate; no other candidate may have the same. */
  readonly identity: string;
  /** Annotations that the leader writes to the lease; those of others stay. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Labels likewise. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * The work of the leader. Its signal aborts when leadership is lost, or not renewed in time, or when the elector is stopped;
   * the work must then resolve soon and write nothing any more.
   */
  readonly onStartedLeading: (signal: AbortSignal) => Promise<void>;
  readonly onNewLeader?: (identity: string) => void;
  /** Called with the error of each failed attempt to get or keep the lease. Must neither throw nor wait. */
  readonly onError?: (error: unknown) => void;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
}

/**
 * `lost`: another process leads now, or might; this process should end, since its state may be outdated.
 * `stopped`: the caller's signal aborted. `finished`: the work resolved by itself; `run` rejects if it failed.
 */
export type ElectionOutcome = 'lost' | 'stopped' | 'finished';

/**
 * Takes part in the election of one leader by a Lease, compatible with client-go's electors.
 *
 * 1. `run` waits until the lease is free or its holder has not renewed it for the lease's duration. That time counts from when we
 *    observed the last change, on our monotonic clock: no two machines need agree on the time.
 * 2. The leader renews every retry period. If it has not succeeded within the renew deadline, counted from when the last successful
 *    request was sent, the signal of its work aborts: well before another may take over.
 * 3. A leader whose work has ended releases the lease. If the work does not end in time, the elector lets the lease expire instead, and
 *    `run` resolves when another may lead: the process must then exit, with everything that still runs in it.
 *
 * `run` may be called once.
 */
export class LeaderElector {
  readonly #options: LeaderElectionOptions;
  readonly #clock: Clock;
  readonly #leaseDurationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryPeriodMs: number;
  /** The lease as last read or written, and when. */
  #observed: Lease | undefined;
  #observedSpecText = '';
  #observedMs = 0;
  /** When the last request that made or kept us leader was sent. */
  #renewedMs: number | undefined;
  #reportedLeader: string | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#leaseDurationMs = options.leaseDurationMs ?? leaseDurationMsDefault;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? renewDeadlineMsDefault;
    this.#retryPeriodMs = options.retryPeriodMs ?? retryPeriodMsDefault;
    assert(options.identity !== '', 'a candidate needs an identity');
    assert(this.#leaseDurationMs % 1000 === 0, 'leases last for whole seconds');
    assert(this.#leaseDurationMs > this.#renewDeadlineMs, 'the lease must outlast the renew deadline');
    assert(
      this.#renewDeadlineMs > this.#retryPeriodMs * jitterFactor,
      'the renew deadline must leave time for a second attempt',
    );
  }

  /** Whether we lead at this very moment, even if the process was frozen before. Check it before anything that must not happen twice. */
  isLeading(): boolean {
    return (
      this.#renewedMs !== undefined && this.#clock.monotonicMs() < this.#renewedMs + this.#renewDeadlineMs
    );
  }

  /** The leader at the last observation; empty if there was none. */
  leader(): string {
    return this.#observed?.spec?.holderIdentity ?? '';
  }

  async run(signal: AbortSignal): Promise<ElectionOutcome> {
    if (!(await this.#acquire(signal))) return 'stopped';
    const leading = new AbortController();
    const work = startWork(this.#options.onStartedLeading, leading.signal);
    const stop = abortedByEither(signal, work.endedSignal);
    const stopped = await this.#renewUntil(stop.signal);
    stop.forget();
    const outcome = work.hasEnded() ? 'finished' : stopped;
    leading.abort();
    await this.#stepDown(work);
    if (work.hasFailed() && outcome === 'finished') throw work.error();
    if (work.hasFailed()) this.#options.onError?.(work.error());
    return outcome;
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const isLeader = await this.#tryWithin(this.#renewDeadlineMs, signal);
      this.#reportLeader();
      if (isLeader && this.isLeading()) return true;
      const waitMs = this.#retryPeriodMs * (1 + this.#options.random.next() * jitterFactor);
      await this.#clock.sleep(waitMs, signal);
    }
    return false;
  }

  async #renewUntil(signal: AbortSignal): Promise<'lost' | 'stopped'> {
    while (!signal.aborted) {
      await this.#clock.sleep(Math.min(this.#retryPeriodMs, this.#leftMs()), signal);
      if (signal.aborted) break;
      if (this.#leftMs() <= 0) return 'lost';
      await this.#tryWithin(this.#leftMs(), signal);
      this.#reportLeader();
      if (this.#renewedMs === undefined) return 'lost';
    }
    return 'stopped';
  }

  /** The time until the renew deadline. */
  #leftMs(): number {
    return this.#renewedMs === undefined
      ? 0
      : this.#renewedMs + this.#renewDeadlineMs - this.#clock.monotonicMs();
  }

  /** Makes one attempt and aborts it after `ms`: a hanging request must not outlast its purpose. */
  async #tryWithin(ms: number, signal: AbortSignal): Promise<boolean> {
    const attempt = new AbortController();
    const timer = this.#clock.after(ms, () =>
      attempt.abort(new Error('the lease could not be renewed in time')),
    );
    const stopListening = signal.aborted ? () => {} : onAbort(signal, () => attempt.abort(signal.reason));
    try {
      return await this.#tryAcquireOrRenew(attempt.signal);
    } catch (error) {
      if (!signal.aborted) this.#options.onError?.(error);
      return false;
    } finally {
      timer.cancel();
      stopListening();
    }
  }

  async #tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const sentMs = this.#clock.monotonicMs();
    // The fast path: as long as no other client interferes, the leader need not read before it writes.
    if (this.isLeading() && this.#observed !== undefined) {
      const renewed = await this.#renewOptimistically(this.#observed, signal);
      if (renewed) return this.#won(sentMs);
    }
    const found = await this.#read(signal);
    if (found === undefined) {
      const spec = this.#specOf(undefined);
      const { lease, leases } = this.#options;
      this.#observe(await leases.create(this.#annotated({ ...headOf(lease), spec }), { signal }));
      return this.#won(sentMs);
    }
    this.#observeIfChanged(found);
    if (this.#isHeldByAnother(found)) return this.#lost();
    this.#observe(await this.#write(found, this.#specOf(found), signal));
    return this.#won(sentMs);
  }

  async #renewOptimistically(observed: Lease, signal: AbortSignal): Promise<boolean> {
    try {
      this.#observe(await this.#write(observed, this.#specOf(observed), signal));
      return true;
    } catch (error) {
      if (isReason(error, 'Conflict', 'NotFound')) return false;
      throw error;
    }
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await this.#options.leases.get(this.#options.lease, { signal });
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  async #write(lease: Lease, spec: LeaseSpec, signal: AbortSignal): Promise<Lease> {
    return await this.#options.leases.update(this.#annotated({ ...lease, spec }), { signal });
  }

  #annotated(lease: Lease): Lease {
    const { annotations, labels } = this.#options;
    const { metadata } = lease;
    return {
      ...lease,
      metadata: {
        ...metadata,
        ...(annotations && { annotations: { ...metadata?.annotations, ...annotations } }),
        ...(labels && { labels: { ...metadata?.labels, ...labels } }),
      },
    };
  }

  #isHeldByAnother({ spec }: Lease): boolean {
    const holder = spec?.holderIdentity ?? '';
    if (holder === '' || holder === this.#options.identity) return false;
    const validMs = (spec?.leaseDurationSeconds ?? 0) * 1000;
    return this.#clock.monotonicMs() < this.#observedMs + validMs;
  }

  #specOf(old: Lease | undefined): LeaseSpec {
    const now = formatMicroTime(this.#clock.nowMs());
    const { identity } = this.#options;
    const leaseDurationSeconds = this.#leaseDurationMs / 1000;
    const transitions = old?.spec?.leaseTransitions ?? 0;
    if (old?.spec?.holderIdentity === identity) {
      const acquireTime = old.spec.acquireTime ?? now;
      const kept = { leaseTransitions: transitions, acquireTime };
      return { ...old.spec, ...kept, holderIdentity: identity, leaseDurationSeconds, renewTime: now };
    }
    return {
      holderIdentity: identity,
      leaseDurationSeconds,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: old === undefined ? 0 : transitions + 1,
    };
  }

  #observeIfChanged(lease: Lease): void {
    if (JSON.stringify(lease.spec) === this.#observedSpecText) this.#observed = lease;
    else this.#observe(lease);
  }

  #observe(lease: Lease): void {
    this.#observed = lease;
    this.#observedSpecText = JSON.stringify(lease.spec);
    this.#observedMs = this.#clock.monotonicMs();
  }

  #won(sentMs: number): true {
    this.#renewedMs = sentMs;
    return true;
  }

  #lost(): false {
    this.#renewedMs = undefined;
    return false;
  }

  #reportLeader(): void {
    const leader = this.leader();
    if (leader === this.#reportedLeader || (leader === '' && this.#reportedLeader === undefined)) return;
    this.#reportedLeader = leader;
    this.#options.onNewLeader?.(leader);
  }

  /** The lease is ours until the renew deadline: if the work ends by then, release it. */
  async #stepDown(work: LeaderWork): Promise<void> {
    const waiting = new AbortController();
    // After that, another process may lead. Waiting longer for work that does not end would only keep the caller from exiting.
    const waitMs = this.#leftMs() + this.#leaseDurationMs - this.#renewDeadlineMs;
    await Promise.race([work.ended, this.#clock.sleep(waitMs, waiting.signal)]);
    waiting.abort();
    if (work.hasEnded() && this.isLeading()) await this.#release();
    this.#renewedMs = undefined;
  }

  async #release(): Promise<void> {
    const attempt = new AbortController();
    const timer = this.#clock.after(this.#leftMs(), () => attempt.abort());
    try {
      const lease = await this.#options.leases.get(this.#options.lease, { signal: attempt.signal });
      if (lease.spec?.holderIdentity !== this.#options.identity) return;
      const now = formatMicroTime(this.#clock.nowMs());
      const spec: LeaseSpec = {
        holderIdentity: '',
        leaseDurationSeconds: releasedDurationSeconds,
        acquireTime: now,
        renewTime: now,
        leaseTransitions: lease.spec.leaseTransitions ?? 0,
      };
      this.#observe(await this.#write(lease, spec, attempt.signal));
    } catch (error) {
      // The lease expires by itself; only the next leader has to wait.
      this.#options.onError?.(error);
    } finally {
      timer.cancel();
    }
  }
}

function headOf({ namespace, name }: ObjectKey): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  };
}

interface LeaderWork {
  /** Never rejects. */
  readonly ended: Promise<void>;
  readonly endedSignal: AbortSignal;
  hasEnded(): boolean;
  hasFailed(): boolean;
  error(): unknown;
}

function startWork(run: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): LeaderWork {
  const end = new AbortController();
  let failure: { readonly error: unknown } | undefined;
  const ended = Promise.resolve()
    .then(() => run(signal))
    .catch((error: unknown) => {
      failure = { error };
    })
    .finally(() => end.abort());
  return {
    ended,
    endedSignal: end.signal,
    hasEnded: () => end.signal.aborted,
    hasFailed: () => failure !== undefined,
    error: () => failure?.error,
  };
}

function abortedByEither(first: AbortSignal, second: AbortSignal) {
  const either = new AbortController();
  const abort = () => either.abort();
  if (first.aborted || second.aborted) abort();
  const forgets = either.signal.aborted ? [] : [onAbort(first, abort), onAbort(second, abort)];
  const forget = () => {
    for (const stopListening of forgets) stopListening();
  };
  return { signal: either.signal, forget };
}

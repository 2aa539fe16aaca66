import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import {
  bindingProgress,
  podProblem,
  provisionProgress,
  type VolumeProgress,
} from '../engine/ledger/binding-progress.ts';
import type { ClaimBinding, Provision } from '../engine/rules/framework/decisions.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/error-message.ts';
import { Semaphore } from '../runtime/semaphore.ts';
import { BindFailure } from './bind-failure.ts';
import type { InFlightBinding } from './in-flight-bindings.ts';
import type { PodSchedulingWrites } from './pod-scheduling-writes.ts';
import type { ClaimCompletion, ClaimRefWithdrawal, VolumeBindingWrites } from './volume-writes.ts';

export interface PodBinderOptions {
  readonly index: ClusterIndex;
  readonly clock: Clock;
  readonly volumes: VolumeBindingWrites;
  readonly pods: Pick<PodSchedulingWrites, 'bind' | 'nominate'>;
  /** How long others may take to make and bind a pod's volumes: ten minutes unless it says otherwise. */
  readonly timeoutMs?: number | undefined;
}

const timeoutMsDefault = 600_000;
/** How many pods are written about at once. */
const writersMax = 64;

/**
 * Carries a placement out: all of a pod's volumes, then the pod; or nothing, as far as Kubernetes lets us take things back.
 *
 * 1. New volumes first: each claim gets its selected node, and all of them have to be there before anything else is promised for
 *    good. Making volumes is what fails. Their claims are never told by us: the PV controller takes a claim for lost that names a
 *    volume which it has not looked at yet, and that it has can't be seen before it completes the binding itself.
 * 2. Then the existing volumes: a claimRef each, and the PV controller completes the binding. Under `completesBindings` we name the
 *    volume on the claim's side ourselves, once all claimRefs stand, and leave the PV controller the phases.
 * 3. Then the pod, unless it was created with its node.
 *
 * Waiting is by event. Every step can be the last: what stands written afterwards (selected nodes, claimRefs) is found again by
 * whoever plans the pod next, holds what it holds, and the steps that are done aren't done twice.
 *
 * What fails takes back the claimRefs that nothing has come of. A selected node stays until its provisioner clears it: the volume
 * may be there already.
 *
 * Several claimRefs are sent at once, and only if none is known to be out of date: the shorter the time between the first and the
 * last, the smaller the chance that one of them is completed while another fails. Reserving them all by name first and adding the
 * uids afterwards would not close that gap. Kubernetes' PV controller completes a reservation by name whenever it looks at the claim,
 * ours at once, since it can't tell it from a person's; each volume would cost a second write; and a name is no lock: whoever
 * re-creates the claim would inherit what a dead scheduler had reserved, and a claim that never returns would keep it for good.
 */
export class PodBinder {
  readonly #options: PodBinderOptions;
  readonly #writers = new Semaphore(writersMax);

  constructor(options: PodBinderOptions) {
    this.#options = options;
  }

  /** Rejects with a `BindFailure`, or with the reason of `signal`: then nothing was undone, since nobody may write any more. */
  async bind(flight: InFlightBinding, signal: AbortSignal): Promise<void> {
    const { clock, timeoutMs = timeoutMsDefault, pods } = this.#options;
    const { node } = flight.placement;
    const isAssigned = (flight.pod.spec?.nodeName ?? '') !== '';
    const timer = clock.after(timeoutMs, () => flight.cancel('binding volumes: context deadline exceeded'));
    const claimed = new Map<ClaimBinding, ClaimCompletion>();
    try {
      await this.#provision(flight, signal);
      await this.#claim(flight, claimed, signal);
      // Complete: from here on they hold by themselves, whatever becomes of the pod.
      claimed.clear();
      if (isAssigned) return;
      await this.#write(flight, signal, () => {
        flight.markPodWriteStarted();
        return pods.bind(flight.pod, node, signal);
      });
    } catch (error) {
      signal.throwIfAborted();
      throw await this.#undone(flight, claimed, error, signal);
    } finally {
      timer.cancel();
    }
  }

  async #provision(flight: InFlightBinding, signal: AbortSignal): Promise<void> {
    const { volumes, index } = this.#options;
    const { provisions, node } = flight.placement;
    if (provisions.length === 0) return;
    await this.#write(flight, signal, async () => {
      for (const provision of provisions) await volumes.selectNode(provision, node, signal);
    });
    const parts = provisions.map((provision) => ({
      provision,
      progress: () => provisionProgress(index, provision, node),
    }));
    const hint = this.#nominateLater(flight, signal);
    try {
      await this.#untilBound(flight, parts, signal);
    } finally {
      await hint.end();
    }
  }

  /**
   * Others should know where a pod is meant to go that waits for long. It is no more than a hint, since the claims say it too, and
   * costs everybody who watches pods a change: most volumes are there before it would be read. `end` resolves when nothing more is written.
   */
  #nominateLater(flight: InFlightBinding, signal: AbortSignal): { end(): Promise<void> } {
    const { clock, pods } = this.#options;
    const { node } = flight.placement;
    let writing: Promise<void> | undefined;
    const timer = clock.after(nominateAfterMs, () => {
      if ((flight.pod.spec?.nodeName ?? '') !== '') return;
      const nominated = this.#write(flight, signal, () => pods.nominate(flight.pod, node, signal));
      writing = nominated.catch(() => {});
    });
    return {
      async end() {
        timer.cancel();
        await writing;
      },
    };
  }

  /** `claimed` is told of every claimRef before it is tried: an answer that gets lost must not leave one behind. */
  async #claim(flight: InFlightBinding, claimed: Claimed, signal: AbortSignal): Promise<void> {
    const { volumes, index } = this.#options;
    const { bindings, node } = flight.placement;
    if (bindings.length === 0) return;
    await this.#write(flight, signal, async () => {
      const missing = bindings.flatMap((binding) => volumes.prepareClaimRef(binding) ?? []);
      for (const { binding } of missing) claimed.set(binding, 'settled');
      await allOf(missing.map(({ write }) => write(signal)));
      if (!index.profile.completesBindings) return;
      // Only now: a claim that names its volume can't be undone, so all of the pod's volumes are claimed before the first.
      const free = missing.filter(({ isFree }) => isFree);
      await allOf(
        free.map(async ({ binding }) => {
          claimed.set(binding, await volumes.completeClaim(binding, signal));
        }),
      );
    });
    const parts = bindings.map((binding) => ({ progress: () => bindingProgress(index, binding, node) }));
    await this.#untilBound(flight, parts, signal);
  }

  /** Waits until every volume is bound, or one of them will never be. */
  async #untilBound(flight: InFlightBinding, parts: readonly Part[], signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      this.#check(flight);
      let isBound = true;
      for (const { progress, provision } of parts) {
        const now = progress();
        if (now.kind === 'failed') {
          const failed = now.isProvisioning ? provision : undefined;
          throw new BindFailure(`binding volumes: ${now.problem}`, { provision: failed });
        }
        isBound &&= now.kind === 'bound';
      }
      if (isBound) return;
      await flight.nextWake(signal);
    }
  }

  /** Between two steps: may the pod still go there? Writes themselves are never broken off, so that it is known what they did. */
  #check(flight: InFlightBinding): void {
    flight.cancelled.throwIfAborted();
    const problem = podProblem(this.#options.index, flight.placement);
    if (problem !== undefined) throw new BindFailure(`binding volumes: ${problem}`);
  }

  async #write(flight: InFlightBinding, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    await this.#writers.run(signal, async () => {
      this.#check(flight);
      await work();
    });
  }

  async #undone(
    flight: InFlightBinding,
    claimed: Claimed,
    error: unknown,
    signal: AbortSignal,
  ): Promise<BindFailure> {
    const kept: ClaimBinding[] = [];
    for (const [binding, completion] of claimed) {
      // Another pod counts on the claim's volume.
      if (this.#options.index.pods.isHeldByOther(binding.claim, flight.reservation.podKey)) continue;
      // A claim that is told late, of a volume that is another's by then, would be lost. So the PV controller completes this one.
      const isKept = completion === 'unknown' || (await this.#takeBack(binding, signal)) === 'kept';
      if (isKept) kept.push(binding);
    }
    signal.throwIfAborted();
    const provision = error instanceof BindFailure ? error.provision : undefined;
    return new BindFailure(messageOf(error), { provision, kept });
  }

  /**
   * `unknown` after the last try: then the claimRef stands, the next plan of the pod finds it, and whoever fits nowhere because of
   * it has it rolled back.
   */
  async #takeBack(binding: ClaimBinding, signal: AbortSignal): Promise<ClaimRefWithdrawal | 'unknown'> {
    const { clock, volumes } = this.#options;
    for (const pauseMs of takeBackPausesMs) {
      await clock.sleep(pauseMs, signal);
      try {
        return await this.#writers.run(signal, () => volumes.withdrawClaimRef(binding, signal));
      } catch {
        signal.throwIfAborted();
      }
    }
    return 'unknown';
  }
}

/** What a pod waits for its new volumes before it is told where it is meant to go. */
const nominateAfterMs = 5_000;

/** Ahead of each try to take a claimRef back. */
const takeBackPausesMs = [0, 100, 1_000, 5_000];

/** The claimRefs that were written or tried, and what came of telling their claims. */
type Claimed = Map<ClaimBinding, ClaimCompletion>;

/** One volume that is waited for. */
interface Part {
  readonly progress: () => VolumeProgress;
  readonly provision?: Provision;
}

/** Unlike `Promise.all` it waits for all of them also when one fails, so that nothing is written after it has ended. */
async function allOf(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

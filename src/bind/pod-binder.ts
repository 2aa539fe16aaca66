import type { Projected } from '../cluster/cluster.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import {
  bindingProgress,
  boundClaimProblem,
  newVolumesProblem,
  podProblem,
  provisionProgress,
  type VolumeProgress,
} from '../engine/ledger/binding-progress.ts';
import type { ClaimBinding, Provision } from '../engine/rules/framework/decisions.ts';
import type { Pod } from '../kube/api/core.ts';
import { isReason, isRefusal } from '../kube/api-error.ts';
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
  /** How long provisioners and the PV controller may take to create and bind a pod's volumes. Default: ten minutes. */
  readonly timeoutMs?: number | undefined;
  /** Called once for a binding whose provisioners take long. Must neither throw nor wait. */
  readonly onSlowProvisioning?: OnSlowProvisioning | undefined;
}

/** `waiting`: the volumes that do not exist yet. */
export type OnSlowProvisioning = (
  pod: Projected<Pod>,
  waiting: readonly Provision[],
  nodeName: string,
) => void;

const timeoutMsDefault = 600_000;
/** For this many pods requests are sent at the same time. */
const writersMax = 64;

/**
 * Binds one placement: all of the pod's volumes, then the pod; or nothing, as far as Kubernetes allows undoing.
 *
 * 1. New volumes first: each claim gets its selected node, and all of the volumes must exist before anything final is written, because
 *    provisioning is what fails. The binder never names these volumes in their claims: the PV controller marks a claim as Lost that
 *    names a volume which it has not processed yet, and one cannot see that it has processed it before it completes the binding.
 * 2. Then the existing volumes: a claimRef each, and the PV controller completes the binding. With `completesBindings` in the profile,
 *    the binder names the volumes in the claims itself, once all claimRefs are written, and the PV controller writes only the phases.
 * 3. Then the pod, unless it was created with its node. Right before, all of its claims are checked again: a claim that was bound early
 *    may have been deleted while the binder waited for another one. If the binder waited for long, it reads them from the server.
 *
 * The binder waits for events and never polls. It may crash after any step: the next plan of the pod finds what was written (selected
 * nodes and claimRefs), it keeps reserving what it reserves, and steps that are done are not repeated.
 *
 * After a failure the binder withdraws the claimRefs whose bindings have not been completed. A selected node stays until its provisioner
 * clears it: the volume may exist already.
 *
 * Several claimRefs are sent at the same time, and only if none is known to be out of date: the shorter the time between the first and
 * the last, the smaller the chance that one of them is completed while another fails. Reserving all of them by name first, and adding
 * the uids afterwards, would not close that gap. Kubernetes' PV controller completes a reservation by name whenever it processes the
 * claim, and Stowage's does so immediately, because neither can distinguish it from an administrator's. It would also cost a second write for
 * each volume. And a name is not a lock: a claim re-created under the name would inherit the reservation of a crashed scheduler, and a claim
 * that is never re-created would keep it forever.
 */
export class PodBinder {
  readonly #options: PodBinderOptions;
  readonly #writers = new Semaphore(writersMax);

  constructor(options: PodBinderOptions) {
    this.#options = options;
  }

  /** Rejects with a `BindFailure`, or with the reason of `signal`: then nothing was undone, because nothing may be written any more. */
  async bind(inFlight: InFlightBinding, signal: AbortSignal): Promise<void> {
    const { clock, timeoutMs = timeoutMsDefault, pods } = this.#options;
    const { node } = inFlight.placement;
    const isAssigned = (inFlight.pod.spec?.nodeName ?? '') !== '';
    const timer = clock.after(timeoutMs, () => inFlight.cancel('binding volumes: context deadline exceeded'));
    const sent = new Map<ClaimBinding, ClaimCompletion>();
    try {
      await this.#provision(inFlight, signal);
      await this.#claim(inFlight, sent, signal);
      // The bindings are complete and final, whatever happens to the pod.
      sent.clear();
      if (isAssigned) return;
      await this.#write(inFlight, signal, () => {
        inFlight.markPodWriteStarted();
        return pods.bind(inFlight.pod, node, signal, (isRetry) => this.#problemOf(inFlight, isRetry, signal));
      });
    } catch (error) {
      signal.throwIfAborted();
      throw await this.#undo(inFlight, sent, error, signal);
    } finally {
      timer.cancel();
    }
  }

  async #provision(inFlight: InFlightBinding, signal: AbortSignal): Promise<void> {
    const { volumes, index } = this.#options;
    const { provisions, node } = inFlight.placement;
    if (provisions.length === 0) return;
    await this.#write(inFlight, signal, async () => {
      for (const provision of provisions) await volumes.selectNode(provision, node, signal);
    });
    const awaited = provisions.map((provision) => ({
      provision,
      progress: () => provisionProgress(index, provision, node),
    }));
    const hint = this.#reportLater(inFlight, awaited, signal);
    try {
      await this.#untilBound(inFlight, awaited, signal);
    } finally {
      await hint.end();
    }
  }

  /**
   * Reports a pod that waits for long: to the owner, which records an Event, and to other schedulers by its nominated node. The nominated
   * node is only a hint, since the claims have the selected node, and costs every watcher of pods an event: most volumes exist before it
   * would be written. `end` resolves when nothing more is going to be written.
   */
  #reportLater(
    inFlight: InFlightBinding,
    awaited: readonly AwaitedProvision[],
    signal: AbortSignal,
  ): { end(): Promise<void> } {
    const { clock, pods, onSlowProvisioning } = this.#options;
    const { node } = inFlight.placement;
    let writing: Promise<void> | undefined;
    const timer = clock.after(slowAfterMs, () => {
      const waiting = awaited.filter(({ progress }) => progress().kind === 'waiting');
      if (waiting.length > 0) {
        const provisions = waiting.map(({ provision }) => provision);
        onSlowProvisioning?.(inFlight.pod, provisions, node);
      }
      if ((inFlight.pod.spec?.nodeName ?? '') !== '') return;
      const nominated = this.#write(inFlight, signal, () => pods.nominate(inFlight.pod, node, signal));
      writing = nominated.catch(() => {});
    });
    return {
      async end() {
        timer.cancel();
        await writing;
      },
    };
  }

  /** Adds every claimRef to `sent` before it is sent, so that one whose response is lost is undone too. */
  async #claim(inFlight: InFlightBinding, sent: SentClaimRefs, signal: AbortSignal): Promise<void> {
    const { volumes, index } = this.#options;
    const { bindings, node } = inFlight.placement;
    if (bindings.length === 0) return;
    await this.#write(inFlight, signal, async () => {
      const pending = bindings.flatMap((binding) => volumes.prepareClaimRef(binding) ?? []);
      for (const { binding } of pending) sent.set(binding, 'settled');
      await allSettledOrThrow(pending.map(({ write }) => write(signal)));
      if (!index.profile.completesBindings) return;
      // Only now: a claim that names its volume cannot be undone, so all claimRefs of the pod must be written before.
      const free = pending.filter(({ isFree }) => isFree);
      await allSettledOrThrow(
        free.map(async ({ binding }) => {
          sent.set(binding, await volumes.completeClaim(binding, signal));
        }),
      );
    });
    const awaited = bindings.map((binding) => ({ progress: () => bindingProgress(index, binding, node) }));
    await this.#untilBound(inFlight, awaited, signal);
  }

  /** Waits until every volume is bound. Throws if one of them never will be. */
  async #untilBound(
    inFlight: InFlightBinding,
    awaited: readonly AwaitedVolume[],
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      this.#throwIfStopped(inFlight);
      let isBound = true;
      for (const { progress, provision } of awaited) {
        const state = progress();
        if (state.kind === 'failed') {
          const failed = state.isProvisioning ? provision : undefined;
          throw new BindFailure(`binding volumes: ${state.problem}`, { provision: failed });
        }
        isBound &&= state.kind === 'bound';
      }
      if (isBound) return;
      await inFlight.nextWake(signal);
    }
  }

  /** Throws if the binding must stop. Called between steps: a write is never interrupted, so that its result is known. */
  #throwIfStopped(inFlight: InFlightBinding): void {
    inFlight.cancelled.throwIfAborted();
    const problem = this.#podOrClaimProblem(inFlight);
    if (problem !== undefined) throw new BindFailure(`binding volumes: ${problem}`);
  }

  #podOrClaimProblem({ placement, boundClaims }: InFlightBinding): string | undefined {
    const { index } = this.#options;
    const problem = podProblem(index, placement);
    if (problem !== undefined) return problem;
    for (const claim of boundClaims) {
      const changed = boundClaimProblem(index, claim, placement.node);
      if (changed !== undefined) return changed;
    }
    return undefined;
  }

  /**
   * Why the pod must not get its node now; undefined if it may. A binding that takes its usual time costs no request: it reads what
   * informers have reported. If the binding took long or an attempt failed, the network may have been interrupted and informers may be
   * behind, so the pod's claims are read from the server first.
   *
   * A window remains: a claim may be deleted between that read and the binding, or, in a binding that is fast, after the last event that
   * informers have delivered. Kubernetes has no write that checks a pod and its claims atomically. It is safe: the kubelet mounts only claims
   * that are bound and not being deleted, so the pod waits on its node, and no volume is used by two claims.
   */
  async #problemOf(
    inFlight: InFlightBinding,
    isRetry: boolean,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { clock, volumes } = this.#options;
    const known = this.#knownProblem(inFlight);
    const isOld = clock.monotonicMs() - inFlight.decidedMs >= oldAfterMs;
    if (known !== undefined || !(isRetry || isOld)) return known;
    const keys = inFlight.placement.pod.claims.map(({ key }) => key);
    const missing = await volumes.missingClaim(keys, signal);
    return missing === undefined ? this.#knownProblem(inFlight) : `PersistentVolumeClaim ${missing} is gone`;
  }

  #knownProblem(inFlight: InFlightBinding): string | undefined {
    return this.#podOrClaimProblem(inFlight) ?? newVolumesProblem(this.#options.index, inFlight.placement);
  }

  async #write(inFlight: InFlightBinding, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    await this.#writers.run(signal, async () => {
      this.#throwIfStopped(inFlight);
      await work();
    });
  }

  async #undo(
    inFlight: InFlightBinding,
    sent: SentClaimRefs,
    error: unknown,
    signal: AbortSignal,
  ): Promise<BindFailure> {
    const keptBindings: ClaimBinding[] = [];
    for (const [binding, completion] of sent) {
      // Another pod uses the claim's volume.
      if (this.#options.index.pods.isUsedByOther(binding.claim, inFlight.reservation.podKey)) continue;
      // A late write would name a volume in the claim that belongs to another claim by then, and the claim would be Lost. So this
      // binding stays, and the PV controller completes it.
      const isKept = completion === 'unknown' || (await this.#withdraw(binding, signal)) === 'kept';
      if (isKept) keptBindings.push(binding);
    }
    signal.throwIfAborted();
    const provision = error instanceof BindFailure ? error.provision : undefined;
    return new BindFailure(messageOf(error), { provision, keptBindings });
  }

  /**
   * Retried while the server does not answer: it may have stored the claimRef, and the PV controller then binds the volume to the claim. Until
   * that is known, the pod keeps its reservation, or it could lose its place on the only node that has its volume.
   *
   * `unknown` if the server refused, or the last attempt failed too. The claimRef stays, the next plan of the pod finds it, and the
   * scheduler rolls it back if the pod fits no node because of it.
   */
  async #withdraw(binding: ClaimBinding, signal: AbortSignal): Promise<ClaimRefWithdrawal | 'unknown'> {
    const { clock, volumes } = this.#options;
    for (let attempt = 0; attempt < withdrawAttemptsMax; attempt += 1) {
      await clock.sleep(withdrawPausesMs[attempt] ?? withdrawPauseMaxMs, signal);
      try {
        return await this.#writers.run(signal, () => volumes.withdrawClaimRef(binding, signal));
      } catch (error) {
        signal.throwIfAborted();
        if (isRefusal(error) && !isReason(error, 'TooManyRequests')) return 'unknown';
      }
    }
    return 'unknown';
  }
}

/** How long a pod waits for new volumes before it is reported, and its nominated node is written. */
const slowAfterMs = 5_000;

/** From this age of a placement on, the pod's claims are read before the pod gets its node. Most placements are bound in milliseconds. */
const oldAfterMs = 5_000;

/** Before each attempt to withdraw a claimRef. */
const withdrawPausesMs = [0, 100, 1_000];
const withdrawPauseMaxMs = 5_000;
/** About five minutes, as long as other writes without a response are pursued. */
const withdrawAttemptsMax = 60;

/** The claimRefs that were sent, and whether their claims were completed. */
type SentClaimRefs = Map<ClaimBinding, ClaimCompletion>;

/** A volume that the binder waits for. */
interface AwaitedVolume {
  readonly progress: () => VolumeProgress;
  readonly provision?: Provision;
}

type AwaitedProvision = Required<AwaitedVolume>;

/** Unlike `Promise.all` it waits for all of them even if one fails, so that nothing is written after it has returned. */
async function allSettledOrThrow(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

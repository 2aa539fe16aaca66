import type { Cluster } from '../cluster/cluster.ts';
import { type Assessment, assess } from '../engine/assess.ts';
import type { ClusterChange, IndexedKind } from '../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import { type Profile, stowageProfile } from '../engine/cluster-index/profile.ts';
import type { Reservation } from '../engine/ledger/ledger.ts';
import type { AnyRule } from '../engine/rules/framework/rule.ts';
import { volumeRules } from '../engine/rules/volume-rules.ts';
import type { Pod } from '../kube/api/core.ts';
import { SharedInformers } from '../reconcile/shared-informers.ts';
import { onAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import { ClusterFeed } from '../state/cluster-feed.ts';
import { decisionKinds, volumeKinds } from '../state/decision-kinds.ts';
import { BindingSession } from './binding-session.ts';
import { reportMissingPermission } from './missing-permission.ts';

export interface StandaloneBindingOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  /** Runs the informers. They stop when it closes. */
  readonly supervisor: Supervisor;
  /** Called with informer errors and with a `MissingPermission`; informers keep running. */
  readonly onError: (error: unknown) => void;
  readonly profile?: Profile | undefined;
  /** The rules that nodes are assessed by. Default: the rules about volumes. */
  readonly rules?: readonly AnyRule[] | undefined;
  /** How long provisioners and the PV controller may take to create and bind a pod's volumes. */
  readonly bindTimeoutMs?: number | undefined;
  /** The feature gate of that name; on by default. Off: claims do not wait for their first consumer, so unbound ones refuse their pod. */
  readonly volumeScheduling?: boolean | undefined;
}

/**
 * A `BindingSession` with its own informers, for callers that choose nodes themselves and run no controllers: `stowage/binding` and
 * the extender. It watches the cluster, assesses nodes for a pod, and notifies callers when to look again.
 */
export class StandaloneBinding {
  readonly feed: ClusterFeed;
  readonly rules: readonly AnyRule[];
  readonly clock: Clock;
  readonly session: BindingSession;
  readonly #listeners = new Set<(change: ClusterChange) => void>();
  readonly #waiting = new Set<() => void>();
  #stop: () => void = () => {};

  private constructor(options: StandaloneBindingOptions) {
    const { cluster, clock, bindTimeoutMs, rules = volumeRules, profile = stowageProfile } = options;
    this.clock = clock;
    this.rules = rules;
    this.feed = new ClusterFeed({
      informers: new SharedInformers({ ...options, onError: reportMissingPermission(options) }),
      kinds: kindsFor(rules),
      profile,
      onChange: (change) => this.#changed(change),
    });
    this.feed.index.bindsVolumes = options.volumeScheduling ?? true;
    this.session = new BindingSession({
      cluster,
      feed: this.feed,
      clock,
      bindTimeoutMs,
      onReverted: (reservation) => this.#reverted(reservation),
    });
  }

  /** Resolves when the index has everything that the cluster holds; undefined if `signal` aborted before. */
  static async open(
    options: StandaloneBindingOptions,
    signal: AbortSignal,
  ): Promise<StandaloneBinding | undefined> {
    const binding = new StandaloneBinding(options);
    binding.#stop = binding.feed.start();
    if (await binding.feed.synced(signal)) return binding;
    binding.close();
    return undefined;
  }

  get index(): ClusterIndex {
    return this.feed.index;
  }

  /** Stops observing the cluster. The caller aborts the bindings that are in flight. */
  close(): void {
    this.#stop();
  }

  /** `listener` is called with every change, after the index and the session have it. It must neither throw nor wait. */
  onChange(listener: (change: ClusterChange) => void): void {
    this.#listeners.add(listener);
  }

  /** Resolves at the next change, when a pod's name becomes free for its successor, or when `signal` aborts. */
  nextChange(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = () => {
        stopListening();
        this.#waiting.delete(finish);
        resolve();
      };
      const stopListening = onAbort(signal, finish);
      this.#waiting.add(finish);
    });
  }

  /** Checks each of the nodes for the pod. Reserves nothing. */
  assess(pod: Pod, nodes: readonly string[]): Assessment {
    return assess(pod, this.index, { nowMs: this.clock.nowMs(), rules: this.rules, nodes });
  }

  #changed(change: ClusterChange): void {
    this.session.observe(change);
    for (const listener of this.#listeners) listener(change);
    this.#wake();
  }

  /** A pod that was re-created under this name could not be reserved until now, and no change of the cluster need follow. */
  #reverted({ placement: { pod } }: Reservation): void {
    if (this.index.pods.stored(pod.key)?.uid !== pod.uid) this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

function kindsFor(rules: readonly AnyRule[]): readonly IndexedKind[] {
  return rules.every((rule) => volumeRules.includes(rule)) ? volumeKinds : decisionKinds;
}

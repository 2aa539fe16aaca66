import type { Cluster } from '../../src/cluster/cluster.ts';
import { persistentVolumeClaims, pods } from '../../src/kube/resources.ts';
import { onAbort } from '../../src/runtime/abort.ts';
import { changesOf } from './watch-changes.ts';

/** When a pod was observed, got its node, and had its claim bound; in milliseconds of this process. */
interface Seen {
  createdAt?: number;
  nodeAt?: number;
  boundAt?: number;
}

export interface PodTimesOptions {
  readonly cluster: Cluster;
  /** The pods from pod-0 on; other pods are ignored. */
  readonly pods: number;
  /** Claims are named after their pods: claim-7 belongs to pod-7. */
  readonly hasClaims: boolean;
}

/**
 * Watches pods and claims from outside, as a kubelet would. A pod counts as created when the watch shows it or its creation is
 * acknowledged, whichever comes first.
 */
export class PodTimes {
  readonly #options: PodTimesOptions;
  readonly #seen = new Map<string, Seen>();
  readonly #stop = new AbortController();
  readonly #watches: Promise<unknown>;
  #ready = 0;
  #awaited = 0;
  #onReady: () => void = () => {};

  constructor(options: PodTimesOptions) {
    this.#options = options;
    this.#watches = Promise.all([this.#watchPods(), options.hasClaims ? this.#watchClaims() : undefined]);
  }

  /** Resolves when this many pods have their node and their claim, or when `signal` aborts; rejects when a watch fails. */
  async untilReady(count: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#ready >= count) return;
    let stopListening = () => {};
    const ready = new Promise<void>((resolve) => {
      this.#awaited = count;
      this.#onReady = resolve;
      stopListening = onAbort(signal, resolve);
    });
    await Promise.race([ready, this.#watches]);
    stopListening();
  }

  /** The server has acknowledged the creation. */
  created(at: number): void {
    this.#note(/^(\d+)$/, String(at), ['createdAt']);
  }

  /** Restarts the measurement for pods that already exist. */
  startOver(): void {
    const now = performance.now();
    for (const seen of this.#seen.values()) seen.createdAt = now;
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#watches;
  }

  get placed(): number {
    return this.toNodeMs.length;
  }

  get span(): Span {
    const times = [...this.#seen.values()];
    const of = (field: keyof Seen) => times.flatMap((seen) => seen[field] ?? []);
    return {
      firstCreatedAt: Math.min(...of('createdAt')),
      lastCreatedAt: Math.max(...of('createdAt')),
      firstNodeAt: Math.min(...of('nodeAt')),
      lastNodeAt: Math.max(...of('nodeAt')),
    };
  }

  /** Times of pods that have a node, in ascending order. */
  get toNodeMs(): readonly number[] {
    return this.#since(({ nodeAt }) => nodeAt);
  }

  /** Until a kubelet could start the pod: it has its node, and its claim is bound. */
  get toReadyMs(): readonly number[] {
    return this.#since((seen) => (this.#isReady(seen) ? readyAt(seen) : undefined));
  }

  #since(end: (seen: Seen) => number | undefined): readonly number[] {
    const times = [...this.#seen.values()].flatMap((seen) => {
      const endAt = end(seen);
      return endAt === undefined || seen.createdAt === undefined ? [] : [endAt - seen.createdAt];
    });
    return times.sort((a, b) => a - b);
  }

  async #watchPods(): Promise<void> {
    for await (const { metadata, spec } of changesOf(this.#options.cluster, pods, this.#stop.signal)) {
      const hasNode = (spec?.nodeName ?? '') !== '';
      this.#note(/^pod-(\d+)$/, metadata?.name, hasNode ? ['createdAt', 'nodeAt'] : ['createdAt']);
    }
  }

  async #watchClaims(): Promise<void> {
    const { cluster } = this.#options;
    for await (const { metadata, status } of changesOf(cluster, persistentVolumeClaims, this.#stop.signal))
      if (status?.phase === 'Bound') this.#note(/^claim-(\d+)$/, metadata?.name, ['boundAt']);
  }

  #note(pattern: RegExp, name: string | undefined, fields: readonly (keyof Seen)[]): void {
    const [, at] = pattern.exec(name ?? '') ?? [];
    if (at === undefined || Number(at) >= this.#options.pods) return;
    const seen = this.#seen.get(at) ?? {};
    this.#seen.set(at, seen);
    const wasReady = this.#isReady(seen);
    for (const field of fields) seen[field] ??= performance.now();
    if (wasReady || !this.#isReady(seen)) return;
    this.#ready += 1;
    if (this.#ready >= this.#awaited) this.#onReady();
  }

  #isReady({ nodeAt, boundAt }: Seen): boolean {
    return nodeAt !== undefined && (boundAt !== undefined || !this.#options.hasClaims);
  }
}

function readyAt({ nodeAt = 0, boundAt = 0 }: Seen): number {
  return Math.max(nodeAt, boundAt);
}

export interface Span {
  readonly firstCreatedAt: number;
  readonly lastCreatedAt: number;
  /** Measurements of placed pods. */
  readonly firstNodeAt: number;
  readonly lastNodeAt: number;
}

/** The values must be in ascending order. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

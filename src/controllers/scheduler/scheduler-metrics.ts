import type { CapacityPromise } from '../../engine/cluster-index/pools/promise-table.ts';
import type { Reservation } from '../../engine/ledger/ledger.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { SchedulingAttempt } from './queue/queued-pod.ts';
import type { SchedulingQueueCounts } from './queue/scheduling-queue.ts';

/** From a tenth of a millisecond to ten minutes, in seconds. */
const secondsBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600];

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

/** The scheduler's own metrics. */
export class SchedulerMetrics {
  readonly #attempts;
  readonly #reasons;
  readonly #decisionSeconds;
  readonly #bindSeconds;
  readonly #podSeconds;
  readonly #pending;
  readonly #inFlight;
  readonly #reservedPods;
  readonly #reservedVolumes;
  readonly #promisedBytes;
  readonly #unpublishedPools;
  readonly #rescued;

  constructor(metrics: Metrics) {
    this.#attempts = metrics.counter(
      'stowage_scheduler_attempts_total',
      'Attempts to place a pod, by how they ended.',
      ['result'],
    );
    this.#reasons = metrics.counter(
      'stowage_scheduler_refusals_total',
      'Refused pods, by each reason that refused at least one node.',
      ['reason'],
    );
    this.#decisionSeconds = metrics.histogram(
      'stowage_scheduler_decision_seconds',
      'From taking a pod out of the queue to a reservation or a refusal.',
      secondsBuckets,
    );
    this.#bindSeconds = metrics.histogram(
      'stowage_scheduler_bind_seconds',
      'From the reservation to the bound pod.',
      secondsBuckets,
    );
    this.#podSeconds = metrics.histogram(
      'stowage_scheduler_pod_seconds',
      'From when the pod could first be scheduled to the bound pod, over all attempts.',
      secondsBuckets,
    );
    this.#pending = metrics.gauge(
      'stowage_scheduler_pending_pods',
      'Pods without a node, by where they wait.',
      ['queue'],
    );
    this.#inFlight = metrics.gauge('stowage_scheduler_binding_pods', 'Pods whose binding is in flight.');
    this.#reservedPods = metrics.gauge(
      'stowage_scheduler_reserved_pods',
      'Pods with a reservation: from the decision until the cluster shows all of it.',
    );
    this.#reservedVolumes = metrics.gauge(
      'stowage_scheduler_reserved_volumes',
      'Existing volumes that those pods hold.',
    );
    this.#promisedBytes = metrics.gauge(
      'stowage_scheduler_promised_bytes',
      'Bytes promised to claims whose volumes are being provisioned, or are not yet in the published capacity of their pools.',
    );
    this.#unpublishedPools = metrics.gauge(
      'stowage_scheduler_pools_without_publisher',
      'Pools whose publisher no longer renews its Lease. Ten minutes later their reports are not used any more, and no new volume goes there.',
    );
    this.#rescued = metrics.counter(
      'stowage_sweep_rescued_total',
      'Objects that an event should have woken and that only the slow sweep found. Anything but 0 is a bug.',
      ['controller'],
    );
    this.#rescued.add({ controller: 'scheduler' }, 0);
  }

  decided(result: AttemptResult, seconds: number): void {
    this.#attempts.add({ result });
    this.#decisionSeconds.observe(seconds);
  }

  refused(reasons: Iterable<string>): void {
    for (const reason of reasons) this.#reasons.add({ reason });
  }

  bound(attempt: SchedulingAttempt, times: { readonly bindMs: number; readonly podMs: number }): void {
    this.#bindSeconds.observe(times.bindMs / 1000);
    this.#podSeconds.observe(times.podMs / 1000);
    if (attempt.cause === 'sweep') this.#rescued.add({ controller: 'scheduler' });
  }

  counts({ active, backoff, unschedulable, gated }: SchedulingQueueCounts, inFlight: number): void {
    for (const [queue, size] of Object.entries({ active, backoff, unschedulable, gated }))
      this.#pending.set(size, { queue });
    this.#inFlight.set(inFlight);
  }

  reserved(reservations: Iterable<Reservation>, promises: Iterable<CapacityPromise>): void {
    let pods = 0;
    const volumes = new Set<string>();
    for (const { placement } of reservations) {
      pods += 1;
      for (const { volume } of placement.bindings) volumes.add(volume);
    }
    let bytes = 0;
    for (const { size } of promises) bytes += size.bytes;
    this.#reservedPods.set(pods);
    this.#reservedVolumes.set(volumes.size);
    this.#promisedBytes.set(bytes);
  }

  poolsWithoutPublisher(count: number): void {
    this.#unpublishedPools.set(count);
  }
}

import { setMaxListeners } from 'node:events';
import type { Cluster } from '../../cluster/cluster.ts';
import { leases } from '../../kube/resources.ts';
import { settledOrAborted } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { announcementAnnotations, type ComponentAnnouncement, leaseKeyOf } from './component-lease.ts';
import { LeaderCluster, type LeaderTerm } from './leader-cluster.ts';
import { LeaderElector } from './leader-election.ts';

export interface LeadershipOptions {
  readonly controller: string;
  /** The connection for the Lease: separate from the controller's own requests, so that renewals never wait behind them. */
  readonly cluster: Cluster;
  /** Must differ from that of every other candidate. */
  readonly identity: string;
  readonly announcement: ComponentAnnouncement;
  /** Labels of the Lease. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly clock: Clock;
  /** The time of the election; by default that of `clock`. */
  readonly electionClock?: Clock | undefined;
  readonly random: Random;
  /** How often the leader renews its Lease, and candidates look at it; by default as often as kube-scheduler. */
  readonly retryPeriodMs?: number | undefined;
  readonly onChange?: ((change: LeadershipChange) => void) | undefined;
  /** Called with the error if the Lease could not be taken or kept; the elector retries. */
  readonly onError: (error: unknown) => void;
}

/** A change of who leads a controller. */
export type LeadershipChange =
  | { readonly controller: string; readonly kind: 'follows'; readonly leader: string }
  /** `lost`: the state of this process may be outdated, so it should end. */
  | { readonly controller: string; readonly kind: 'leads' | 'lost' };

/** One controller's part in the election of its leader, by its own Lease. */
export class Leadership {
  readonly #options: LeadershipOptions;
  #term: LeaderTerm | undefined;
  /** The end of the work of the last term; undefined if that work has ended. */
  #former: Promise<void> | undefined;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /** The same cluster, but writes fail unless we lead. */
  guard(cluster: Cluster): Cluster {
    const { clock } = this.#options;
    return new LeaderCluster({ cluster, clock, term: () => this.#term });
  }

  /**
   * Waits until it leads and does the work for as long as it does. Rejects if leadership was lost: the caller may run it again. Work that
   * outlasts its term must not run twice in parallel, so this process does not become a candidate before that work has ended.
   */
  async run(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    if (this.#former !== undefined) await settledOrAborted(this.#former, signal);
    if (signal.aborted) return;
    const { controller, cluster, identity, announcement, labels, random, retryPeriodMs, onError } =
      this.#options;
    const elector: LeaderElector = new LeaderElector({
      leases: cluster.resource(leases),
      lease: leaseKeyOf(controller),
      identity,
      annotations: announcementAnnotations(announcement),
      labels,
      clock: this.#options.electionClock ?? this.#options.clock,
      random,
      ...(retryPeriodMs !== undefined && { retryPeriodMs }),
      onStartedLeading: async (term) => {
        // A controller passes its signal to any number of requests.
        setMaxListeners(0, term);
        this.#term = { signal: term, isLeading: () => elector.isLeading() };
        this.#notify({ controller, kind: 'leads' });
        const running = work(term);
        this.#remember(running);
        await running;
      },
      onNewLeader: (leader) => {
        if (leader !== identity && leader !== '') this.#notify({ controller, kind: 'follows', leader });
      },
      onError,
    });
    if ((await elector.run(signal)) !== 'lost') return;
    this.#notify({ controller, kind: 'lost' });
    throw new Error(`${controller} has stopped: its Lease was not renewed in time, or another process leads`);
  }

  #remember(running: Promise<void>): void {
    const forget = () => {
      this.#former = undefined;
    };
    this.#former = running.then(forget, forget);
  }

  #notify(change: LeadershipChange): void {
    this.#options.onChange?.(change);
  }
}

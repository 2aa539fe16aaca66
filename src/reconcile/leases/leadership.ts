import { setMaxListeners } from 'node:events';
import type { Cluster } from '../../cluster/cluster.ts';
import { leases } from '../../kube/resources.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { announcementAnnotations, type ComponentAnnouncement, leaseKeyOf } from './component-lease.ts';
import { LeaderCluster, type LeaderTerm } from './leader-cluster.ts';
import { LeaderElector } from './leader-election.ts';

export interface LeadershipOptions {
  readonly controller: string;
  /** How the Lease is reached: apart from the controller's own requests, so that renewing never waits behind them. */
  readonly cluster: Cluster;
  /** No other candidate has the same. */
  readonly identity: string;
  readonly announcement: ComponentAnnouncement;
  readonly clock: Clock;
  readonly random: Random;
  readonly onChange?: ((news: LeadershipChange) => void) | undefined;
  /** Told why the Lease could not be had or kept; it is tried again. */
  readonly onError: (error: unknown) => void;
}

/** Who leads a controller has changed. */
export type LeadershipChange =
  | { readonly controller: string; readonly kind: 'follows'; readonly leader: string }
  /** `lost`: what this process knows is not the leader's any more, so it should end. */
  | { readonly controller: string; readonly kind: 'leads' | 'lost' };

/** One controller's part in the election of its leader, by a Lease of its own. */
export class Leadership {
  readonly #options: LeadershipOptions;
  #term: LeaderTerm | undefined;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /** The same cluster, but nothing is written unless we lead. */
  guard(cluster: Cluster): Cluster {
    const { clock } = this.#options;
    return new LeaderCluster({ cluster, clock, term: () => this.#term });
  }

  /** Waits for its turn and does the work for as long as it lasts. Rejects where the lead was lost: whoever runs it may run it anew. */
  async run(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { controller, cluster, identity, announcement, clock, random, onError } = this.#options;
    const elector: LeaderElector = new LeaderElector({
      leases: cluster.resource(leases),
      lease: leaseKeyOf(controller),
      identity,
      annotations: announcementAnnotations(announcement),
      clock,
      random,
      onStartedLeading: async (term) => {
        // A controller hands its signal to as many requests as it likes.
        setMaxListeners(0, term);
        this.#term = { signal: term, isLeading: () => elector.isLeading() };
        this.#tell({ controller, kind: 'leads' });
        await work(term);
      },
      onNewLeader: (leader) => {
        if (leader !== identity && leader !== '') this.#tell({ controller, kind: 'follows', leader });
      },
      onError,
    });
    if ((await elector.run(signal)) !== 'lost') return;
    this.#tell({ controller, kind: 'lost' });
    throw new Error(`${controller} was not renewed in time, or another leads; it has stopped`);
  }

  #tell(news: LeadershipChange): void {
    this.#options.onChange?.(news);
  }
}

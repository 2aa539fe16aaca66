import { expect, vi } from 'vitest';
import type { Projected } from '../../cluster/cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { RealTimeCluster } from '../../controllers/testing/real-time-cluster.ts';
import type { Reservation } from '../../engine/ledger/ledger.ts';
import { plan } from '../../engine/plan.ts';
import { volumeRules } from '../../engine/rules/volume-rules.ts';
import type { Pod, PodSpec } from '../../kube/api/core.ts';
import { nodes, persistentVolumeClaims, pods, storageClasses } from '../../kube/resources.ts';
import { labels } from '../../kube/well-known.ts';
import { SharedInformers } from '../../reconcile/shared-informers.ts';
import { assert } from '../../runtime/assert.ts';
import { realClock } from '../../runtime/clock.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { ClusterFeed } from '../../state/cluster-feed.ts';
import { volumeKinds } from '../../state/decision-kinds.ts';
import { BindingSession } from '../binding-session.ts';

const namespace = 'default';

/** A session with an in-memory cluster: node `n1`, and the class `slow`, whose volumes are never provisioned. */
export class SessionFixture implements AsyncDisposable {
  readonly environment: RealTimeCluster;
  /** The session's own connection. */
  readonly connection: InterceptedCluster;
  readonly session: BindingSession;
  readonly feed: ClusterFeed;
  /** What the session reported, in order. Tests may append lines. */
  readonly log: string[] = [];
  readonly #supervisor: Supervisor;

  private constructor(environment: RealTimeCluster) {
    const random = seededRandom('session');
    const clock = realClock;
    this.environment = environment;
    this.connection = new InterceptedCluster(environment.cluster);
    this.#supervisor = new Supervisor({ clock, random, onCrash: () => {} });
    const onError = (error: unknown) => console.error(error);
    const shared = { cluster: this.connection, clock, random, supervisor: this.#supervisor, onError };
    this.feed = new ClusterFeed({
      informers: new SharedInformers(shared),
      kinds: volumeKinds,
      onChange: (change) => this.session.observe(change),
    });
    const onReverted = ({ podKey }: Reservation) => this.log.push(`reverted ${podKey}`);
    this.session = new BindingSession({ cluster: this.connection, feed: this.feed, clock, onReverted });
  }

  static async start(): Promise<SessionFixture> {
    const environment = await RealTimeCluster.start();
    const { cluster } = environment;
    await cluster.resource(nodes).create({ metadata: { name: 'n1', labels: { [labels.hostname]: 'n1' } } });
    await cluster.resource(storageClasses).create({
      metadata: { name: 'slow' },
      provisioner: 'slow.example.com',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    const fixture = new SessionFixture(environment);
    fixture.feed.start();
    await fixture.feed.synced(new AbortController().signal);
    return fixture;
  }

  /** Creates the claim `data` of class `slow`. */
  async claim(): Promise<void> {
    await this.environment.cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name: 'data' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'slow',
        resources: { requests: { storage: '1Gi' } },
      },
    });
    await vi.waitFor(() => expect(this.feed.index.claims.get('default/data')).toBeDefined(), {
      timeout: 120_000,
    });
  }

  /** Creates the pod `p`, and reserves node `n1` for it. */
  async reserved(claims: readonly string[] = [], spec: PodSpec = {}): Promise<ReservedPod> {
    const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
    await this.environment.cluster.resource(pods).create({
      metadata: { namespace, name: 'p' },
      spec: { containers: [{ name: 'main', image: 'pause' }], volumes, ...spec },
    });
    await vi.waitFor(() => expect(this.feed.get('Pod', 'default/p')).toBeDefined(), { timeout: 120_000 });
    const pod = this.feed.get('Pod', 'default/p')!;
    const placement = plan(pod, this.feed.index, { nowMs: 0, rules: volumeRules });
    assert(placement.kind === 'placement', 'the pod must fit');
    const result = this.session.reserve(placement);
    assert(result.kind === 'reserved', 'the placement must be reserved');
    return { pod, reservation: result.reservation };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor.close();
    await this.environment[Symbol.asyncDispose]();
  }
}

export interface ReservedPod {
  readonly pod: Projected<Pod>;
  readonly reservation: Reservation;
}

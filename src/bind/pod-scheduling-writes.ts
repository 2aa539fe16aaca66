import type { Cluster } from '../cluster/cluster.ts';
import type { Binding, Pod, PodCondition } from '../kube/api/core.ts';
import { isReason } from '../kube/api-error.ts';
import { getCondition, setCondition } from '../kube/conditions.ts';
import { formatTimestamp } from '../kube/go/timestamp.ts';
import { keyOf, parseKey } from '../kube/object-key.ts';
import { withPreconditions } from '../kube/patch-preconditions.ts';
import { undefinedIfNotFound } from '../kube/undefined-if-not-found.ts';
import { pods } from '../kube/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ClusterFeed } from '../state/cluster-feed.ts';

/** A word about a pod isn't worth more tries. */
const conflictsMax = 10;

export interface PodSchedulingWritesOptions {
  readonly cluster: Cluster;
  readonly feed: ClusterFeed;
  readonly clock: Clock;
}

/** What the scheduler writes about pods: where they go, where they are meant to go, and why they go nowhere. */
export class PodSchedulingWrites {
  readonly #options: PodSchedulingWritesOptions;
  /** By uid, what is being said of the pod right now. */
  readonly #lastWords = new Map<string, NotScheduled>();

  constructor(options: PodSchedulingWritesOptions) {
    this.#options = options;
  }

  /**
   * Gives the pod its node. The server refuses if it has one, is being deleted or is another pod of that name, so a second attempt
   * can't move it; that a first one got through though its answer did not is found out by asking.
   */
  async bind(pod: Pod, nodeName: string, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = pod.metadata ?? {};
    const client = this.#options.cluster.resource(pods);
    const body: Binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) },
      target: { kind: 'Node', name: nodeName },
    };
    try {
      await client.post({ namespace, name }, 'binding', body, { signal });
    } catch (error) {
      if (signal.aborted || isReason(error, 'NotFound')) throw error;
      // Whoever can't be asked either may have bound it; then the informer tells, and the pod leaves the queue.
      const live = await client.get({ namespace, name }, { signal }).catch(() => undefined);
      if (live?.metadata?.uid !== uid || live?.spec?.nodeName !== nodeName) throw error;
    }
  }

  /** A hint for others, and for ourselves after a restart. Throws if the pod is gone, or has a node by now. */
  async nominate(pod: Pod, nodeName: string, signal: AbortSignal): Promise<void> {
    const key = keyOf(pod);
    const isThere = await this.#patchStatus(key, signal, ({ status }) => {
      return status?.nominatedNodeName === nodeName ? undefined : { nominatedNodeName: nodeName };
    });
    if (!isThere) throw new Error(`pod ${key} is gone, or has a node already`);
  }

  /** Says why the pod has no node, and where it isn't meant to go any more. */
  async reportNotScheduled(pod: Pod, condition: NotScheduled, signal: AbortSignal): Promise<void> {
    const uid = pod.metadata?.uid ?? '';
    this.#lastWords.set(uid, condition);
    try {
      await this.#say(pod, condition, signal);
    } finally {
      if (this.#lastWords.get(uid) === condition) this.#lastWords.delete(uid);
    }
  }

  async #say(pod: Pod, condition: NotScheduled, signal: AbortSignal): Promise<void> {
    const uid = pod.metadata?.uid ?? '';
    await this.#patchStatus(keyOf(pod), signal, ({ status, metadata }) => {
      // Another has come under its name, or we have come to another answer meanwhile.
      if (metadata?.uid !== uid || this.#lastWords.get(uid) !== condition) return undefined;
      const wanted: PodCondition = {
        type: 'PodScheduled',
        status: 'False',
        reason: condition.reason,
        message: condition.message,
        ...(metadata?.generation !== undefined && { observedGeneration: metadata.generation }),
      };
      const known = getCondition(status?.conditions, 'PodScheduled');
      const isSaid =
        known?.status === 'False' && known.reason === wanted.reason && known.message === wanted.message;
      const nominated = nominationBy(condition, status?.nominatedNodeName ?? '');
      const isNominated = nominated === (status?.nominatedNodeName ?? '');
      if (isSaid && isNominated) return undefined;
      const now = formatTimestamp(this.#options.clock.nowMs());
      return {
        ...(!isSaid && { conditions: setCondition(status?.conditions ?? [], wanted, now) }),
        ...(!isNominated && { nominatedNodeName: nominated === '' ? null : nominated }),
      };
    });
  }

  /**
   * On the version that was looked at, so that a word said late never overwrites what has become of the pod meanwhile. Somebody
   * else's write in between only means to look again. False if the pod is gone or has a node: then nothing was said.
   */
  async #patchStatus(
    podKey: string,
    signal: AbortSignal,
    change: (pod: Pod) => object | undefined,
  ): Promise<boolean> {
    const { feed, cluster } = this.#options;
    const client = cluster.resource(pods);
    const known = feed.get('Pod', podKey);
    let conflicts = 0;
    for (let pod: Pod | undefined = known; pod !== undefined && isSame(pod, known); ) {
      if ((pod.spec?.nodeName ?? '') !== '') return false;
      const status = change(pod);
      if (status === undefined) return true;
      const patch = { type: 'merge', body: withPreconditions(pod, { status }) } as const;
      try {
        feed.recordWrite(
          'Pod',
          await client.patch(parseKey(podKey), patch, { subresource: 'status', signal }),
        );
        return true;
      } catch (error) {
        if (isReason(error, 'NotFound')) return false;
        conflicts += 1;
        if (!isReason(error, 'Conflict') || conflicts === conflictsMax) throw error;
        pod = await undefinedIfNotFound(client.get(parseKey(podKey), { signal }));
      }
    }
    return false;
  }
}

function isSame(pod: Pod, other: Pod | undefined): boolean {
  return pod.metadata?.uid === other?.metadata?.uid;
}

export interface NotScheduled {
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
  /** Nodes that it waits for no longer. It may wait for another by the time that this is written, and that one stays. */
  readonly clearsNominations?: readonly (string | undefined)[] | undefined;
  /** The node that it goes on waiting for, whoever else would like its room: its volumes are there. */
  readonly keepsNomination?: string | undefined;
}

function nominationBy(
  { clearsNominations: givesUp = [], keepsNomination: waitsFor }: NotScheduled,
  nominated: string,
): string {
  return waitsFor ?? (givesUp.includes(nominated) ? '' : nominated);
}

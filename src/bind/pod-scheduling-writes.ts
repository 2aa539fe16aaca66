import type { Pod, PodCondition } from '../kube/api/core.ts';
import { isReason } from '../kube/api-error.ts';
import { getCondition, setCondition } from '../kube/conditions.ts';
import { formatTimestamp } from '../kube/go/timestamp.ts';
import { keyOf, parseKey } from '../kube/object-key.ts';
import { withPreconditions } from '../kube/patch-preconditions.ts';
import { pods } from '../kube/resources.ts';
import { undefinedIfNotFound } from '../kube/undefined-if-not-found.ts';
import { type PodNodeProblem, PodNodeWrite, type PodWriteOptions } from './pod-node-write.ts';

/** The status write fails after this many conflicts: it is not worth more attempts. */
const conflictsMax = 10;

/** What the scheduler writes to pods: the binding, the nominated node, and the condition PodScheduled=False. */
export class PodSchedulingWrites {
  readonly #options: PodWriteOptions;
  /** The newest report that is being written for a pod, by uid. An older one for the same pod must not overwrite it. */
  readonly #newestReport = new Map<string, NotScheduled>();

  constructor(options: PodWriteOptions) {
    this.#options = options;
  }

  /** See `PodNodeWrite`. */
  async bind(pod: Pod, nodeName: string, signal: AbortSignal, problem?: PodNodeProblem): Promise<void> {
    await new PodNodeWrite({ ...this.#options, pod, nodeName, problem }).send(signal);
  }

  /** A hint for other schedulers, and for this one after a restart. Throws if the pod was deleted, or already has a node. */
  async nominate(pod: Pod, nodeName: string, signal: AbortSignal): Promise<void> {
    const key = keyOf(pod);
    const isThere = await this.#patchStatus(key, signal, ({ status }) => {
      return status?.nominatedNodeName === nodeName ? undefined : { nominatedNodeName: nodeName };
    });
    if (!isThere) throw new Error(`pod ${key} was deleted, or already has a node`);
  }

  /** Writes why the pod has no node, and updates its nominated node. */
  async reportNotScheduled(pod: Pod, condition: NotScheduled, signal: AbortSignal): Promise<void> {
    const uid = pod.metadata?.uid ?? '';
    this.#newestReport.set(uid, condition);
    try {
      await this.#writeReport(pod, condition, signal);
    } finally {
      if (this.#newestReport.get(uid) === condition) this.#newestReport.delete(uid);
    }
  }

  async #writeReport(pod: Pod, condition: NotScheduled, signal: AbortSignal): Promise<void> {
    const uid = pod.metadata?.uid ?? '';
    await this.#patchStatus(keyOf(pod), signal, ({ status, metadata }) => {
      // The pod has been re-created, or a newer report exists.
      if (metadata?.uid !== uid || this.#newestReport.get(uid) !== condition) return undefined;
      const wanted: PodCondition = {
        type: 'PodScheduled',
        status: 'False',
        reason: condition.reason,
        message: condition.message,
        ...(metadata?.generation !== undefined && { observedGeneration: metadata.generation }),
      };
      const known = getCondition(status?.conditions, 'PodScheduled');
      const isReported =
        known?.status === 'False' && known.reason === wanted.reason && known.message === wanted.message;
      const nominated = nominationAfter(condition, status?.nominatedNodeName ?? '');
      const isNominated = nominated === (status?.nominatedNodeName ?? '');
      if (isReported && isNominated) return undefined;
      const now = formatTimestamp(this.#options.clock.nowMs());
      return {
        ...(!isReported && { conditions: setCondition(status?.conditions ?? [], wanted, now) }),
        ...(!isNominated && { nominatedNodeName: nominated === '' ? null : nominated }),
      };
    });
  }

  /**
   * Patches the version that `change` has seen, so that a late write never overwrites newer state. After a conflict with another
   * client's write it reads the pod again. False if the pod was deleted or has a node: then nothing was written.
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

/** The content of a pod's condition PodScheduled=False. */
export interface NotScheduled {
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
  /** Nodes that the pod must no longer be nominated to. A nomination to another node stays. */
  readonly clearsNominations?: readonly (string | undefined)[] | undefined;
  /** The node that the pod stays nominated to, because its volumes are there. */
  readonly keepsNomination?: string | undefined;
}

function nominationAfter(
  { clearsNominations: givesUp = [], keepsNomination: waitsFor }: NotScheduled,
  nominated: string,
): string {
  return waitsFor ?? (givesUp.includes(nominated) ? '' : nominated);
}

import type { Cluster } from '../cluster/cluster.ts';
import { hasSchedulingChange, readPod } from '../engine/records/pod-record.ts';
import type { Binding, Pod, PodCondition } from '../kube/api/core.ts';
import { isRefusal } from '../kube/api-error.ts';
import { setCondition } from '../kube/conditions.ts';
import { formatTimestamp } from '../kube/go/timestamp.ts';
import { keyOf } from '../kube/object-key.ts';
import { withPreconditions } from '../kube/patch-preconditions.ts';
import { pods } from '../kube/resources.ts';
import { undefinedIfNotFound } from '../kube/undefined-if-not-found.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/error-message.ts';
import type { ClusterFeed } from '../state/cluster-feed.ts';
import { BindFailure } from './bind-failure.ts';
import { retryWhileValid, type WriteState } from './retry-while-valid.ts';
import { supersede } from './supersede.ts';

/** Options of every write to a pod. */
export interface PodWriteOptions {
  readonly cluster: Cluster;
  readonly feed: ClusterFeed;
  readonly clock: Clock;
}

export interface PodNodeWriteOptions extends PodWriteOptions {
  /** The pod as it was when its node was chosen. */
  readonly pod: Pod;
  readonly nodeName: string;
  readonly problem?: PodNodeProblem | undefined;
}

/** Why the pod must not get the node any longer; undefined while it may. `isRetry`: an earlier attempt failed, so caches may be behind. */
export type PodNodeProblem = (isRetry: boolean) => Promise<string | undefined>;

/**
 * The write that gives a pod its node. The binding carries the uid and the resourceVersion of the pod: the server refuses it if the pod
 * was changed, is being deleted or has a node, so a second attempt cannot move the pod.
 *
 * - If another client has changed the pod and its requirements are the same, the binding is sent again on the new version.
 * - If no response comes, the pod is read: it may have its node. If not, the binding is sent again on the same version.
 * - If the write fails after a binding without a response, that binding may still be on its way. So the pod is written before `send`
 *   rejects, and the server will refuse the late binding: another pod may then get the capacity that was reserved for this one.
 *
 * Usually it sends one request.
 */
export class PodNodeWrite {
  readonly #options: PodNodeWriteOptions;
  /** The version of the last binding that got no response. */
  #unanswered: string | undefined;
  #attempts = 0;
  #hasProblem = false;

  constructor(options: PodNodeWriteOptions) {
    this.#options = options;
  }

  /** Resolves when the pod has the node. After it has rejected, no binding that it sent takes effect, unless the signal has aborted. */
  async send(signal: AbortSignal): Promise<void> {
    const attempt = {
      write: (version: string | undefined) => this.#bind(version ?? this.#knownVersion(), signal),
      readState: () => this.#readState(signal),
    };
    try {
      await retryWhileValid(attempt, this.#options.clock, signal);
    } catch (error) {
      signal.throwIfAborted();
      const isBound =
        this.#unanswered !== undefined && (await this.#supersede(this.#unanswered, error, signal));
      if (!isBound) throw error;
    }
  }

  /** The newest version in the cache, so that own writes and those of others since the decision cause no conflict. */
  #knownVersion(): string | undefined {
    const { pod, feed } = this.#options;
    const known = feed.get('Pod', keyOf(pod)) ?? pod;
    if (known.metadata?.resourceVersion === pod.metadata?.resourceVersion || !isSame(known, pod))
      return pod.metadata?.resourceVersion;
    if (hasChanged(pod, known))
      throw new BindFailure(`pod ${keyOf(pod)} has changed since its node was chosen`);
    return known.metadata?.resourceVersion;
  }

  async #bind(version: string | undefined, signal: AbortSignal): Promise<void> {
    const { cluster, pod, nodeName, problem } = this.#options;
    const found = await problem?.(this.#attempts > 0);
    this.#attempts += 1;
    this.#hasProblem = found !== undefined;
    if (found !== undefined) throw new BindFailure(found);
    signal.throwIfAborted();
    const { namespace, name = '', uid } = pod.metadata ?? {};
    const body: Binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: {
        name,
        ...(namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
        ...(version !== undefined && { resourceVersion: version }),
      },
      target: { kind: 'Node', name: nodeName },
    };
    try {
      await cluster.resource(pods).post({ namespace, name }, 'binding', body, { signal });
    } catch (error) {
      if (!isRefusal(error)) this.#unanswered = version;
      throw error;
    }
  }

  async #readState(signal: AbortSignal): Promise<WriteState> {
    const { pod, feed } = this.#options;
    const live = await this.#read(signal);
    if (live === undefined || !isSame(live, pod)) return { kind: 'changed' };
    feed.recordWrite('Pod', live);
    if (this.#isBound(live)) return { kind: 'done' };
    const isStopped = this.#hasProblem || hasNode(live) || hasChanged(pod, live);
    return isStopped || live.metadata?.deletionTimestamp !== undefined
      ? { kind: 'changed' }
      : { kind: 'unchanged', version: live.metadata?.resourceVersion };
  }

  /**
   * Makes sure that a binding on `version` can no longer take effect. True if it has taken effect meanwhile. If the server refuses the
   * write, for example because the scheduler may not write the status of pods, the late binding remains possible, as in kube-scheduler:
   * the kubelet then refuses the pod if it does not fit.
   */
  async #supersede(version: string, cause: unknown, signal: AbortSignal): Promise<boolean> {
    const pod = {
      version,
      read: () => this.#read(signal),
      change: (live: Pod) => this.#writeCondition(live, messageOf(cause), signal),
    };
    const live = await supersede(pod, this.#options.clock, signal);
    return live !== undefined && this.#isBound(live);
  }

  /** The time of the probe makes it a change even if the condition has the same message already. */
  async #writeCondition(live: Pod, message: string, signal: AbortSignal): Promise<Pod> {
    const { cluster, clock, feed } = this.#options;
    const { namespace, name = '', generation } = live.metadata ?? {};
    const now = formatTimestamp(clock.nowMs());
    const condition: PodCondition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulerError',
      message,
      lastProbeTime: now,
      ...(generation !== undefined && { observedGeneration: generation }),
    };
    const status = { conditions: setCondition(live.status?.conditions, condition, now) };
    const patch = { type: 'merge', body: withPreconditions(live, { status }) } as const;
    const written = await cluster
      .resource(pods)
      .patch({ namespace, name }, patch, { subresource: 'status', signal });
    feed.recordWrite('Pod', written);
    return written;
  }

  async #read(signal: AbortSignal): Promise<Pod | undefined> {
    const { namespace, name = '' } = this.#options.pod.metadata ?? {};
    return await undefinedIfNotFound(
      this.#options.cluster.resource(pods).get({ namespace, name }, { signal }),
    );
  }

  #isBound(live: Pod): boolean {
    const { pod, nodeName } = this.#options;
    return isSame(live, pod) && live.spec?.nodeName === nodeName;
  }
}

function isSame(pod: Pod, other: Pod): boolean {
  return pod.metadata?.uid === other.metadata?.uid;
}

function hasNode({ spec }: Pod): boolean {
  return (spec?.nodeName ?? '') !== '';
}

function hasChanged(pod: Pod, live: Pod): boolean {
  return hasSchedulingChange(readPod(pod), readPod(live));
}

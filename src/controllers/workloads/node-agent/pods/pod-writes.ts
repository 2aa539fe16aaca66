import type { Pod } from '../../../../kube/api/core.ts';
import { isReason } from '../../../../kube/api-error.ts';
import { pods } from '../../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../../reconcile/controller.ts';
import { referenceTo } from '../../../../reconcile/event-recorder.ts';
import type { WrittenStatus } from './pod-status.ts';

/** An Event about a pod. */
interface PodEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** The agent's writes about pods. */
export class NodeAgentPodWrites {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  /** Patches the version that was read. Undefined if the pod no longer exists. */
  async status(pod: Pod, status: WrittenStatus, signal: AbortSignal): Promise<Pod | undefined> {
    const { namespace, name = '', uid, resourceVersion } = pod.metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, status };
    const client = this.#context.cluster.resource(pods);
    const patch = { type: 'merge', body } as const;
    return await undefinedIfNotFound(
      client.patch({ namespace, name }, patch, { subresource: 'status', signal }),
    );
  }

  /** Nothing is left of it on its node, whatever was written to it meanwhile. */
  async remove({ metadata }: Pod, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = metadata ?? {};
    const preconditions = uid === undefined ? {} : { uid };
    const client = this.#context.cluster.resource(pods);
    try {
      await client.delete({ namespace, name }, { gracePeriodSeconds: 0, preconditions, signal });
    } catch (error) {
      // It no longer exists, or another pod has its name.
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
  }

  /** Deletes the version that was read, with the pod's own grace period unless another is given. */
  async delete(
    { metadata }: Pod,
    grace: { readonly gracePeriodSeconds?: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, name = '', uid = '', resourceVersion = '' } = metadata ?? {};
    const preconditions = { uid, resourceVersion };
    const client = this.#context.cluster.resource(pods);
    await undefinedIfNotFound(client.delete({ namespace, name }, { ...grace, preconditions, signal }));
  }

  recordEvent(pod: Pod, event: PodEvent): void {
    const regarding = referenceTo(pod, { apiVersion: 'v1', kind: 'Pod' });
    this.#context.events.record({ regarding, ...event });
  }
}

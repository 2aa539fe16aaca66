import { identityLabels } from '../../../engine/workloads/stateful-set-members.ts';
import type { ReplicaStep } from '../../../engine/workloads/stateful-set-plan.ts';
import type { StatefulSet } from '../../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { isReason } from '../../../kube/api-error.ts';
import { controllerReference } from '../../../kube/owner-references.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { controllerRevisions, persistentVolumeClaims, pods, statefulSets } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import { unreachable } from '../../../runtime/assert.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import { adoptAndRelease, setOwners } from '../pods/adoption.ts';
import { deleteIfUnchanged } from '../pods/delete-if-unchanged.ts';
import { isSameData, type RevisionPlan } from './revisions.ts';
import type { ReplicaStage, SetPlan } from './set-plan.ts';
import { setStatusPatch } from './set-status.ts';

type Result = 'Create' | 'Update' | 'Delete';

/** Executes a plan for a set, write by write. */
export class SetWriter {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  async claim(
    set: StatefulSet,
    plan: Extract<SetPlan, { kind: 'claim' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster } = this.#context;
    const reference = controllerReference(set, statefulSets);
    await adoptAndRelease(cluster.resource(pods), plan.pods, reference, signal);
    await adoptAndRelease(cluster.resource(controllerRevisions), plan.revisions, reference, signal);
  }

  /** Whether the name of the revision was free, or taken by the same template. */
  async revise(plan: Exclude<RevisionPlan, { kind: 'settled' }>, signal: AbortSignal): Promise<boolean> {
    const client = this.#context.cluster.resource(controllerRevisions);
    const { namespace, name = '', uid, resourceVersion } = plan.revision.metadata ?? {};
    if (plan.kind === 'renumber') {
      const body = { metadata: { uid, resourceVersion }, revision: plan.number };
      await client.patch({ namespace, name }, { type: 'merge', body }, { signal });
      return true;
    }
    try {
      await client.create(plan.revision, { signal });
      return true;
    } catch (error) {
      if (!isReason(error, 'AlreadyExists')) throw error;
    }
    const taken = await undefinedIfNotFound(client.get({ namespace, name }, { signal }));
    return taken === undefined || isSameData(taken, plan.revision);
  }

  /** The steps, then the status whatever their result, then old revisions. */
  async replicas(set: StatefulSet, stage: ReplicaStage, signal: AbortSignal): Promise<void> {
    const failure = await this.#applySteps(set, stage.steps, signal);
    if (!stage.isStatusCurrent) await this.#writeStatus(set, stage, signal);
    if (failure !== undefined) throw failure.error;
    const client = this.#context.cluster.resource(controllerRevisions);
    for (const revision of stage.expired) await deleteIfUnchanged(client, revision, signal);
  }

  /** If pods are managed in parallel, the failure of one does not affect the others; otherwise the steps after a failure are left out. */
  async #applySteps(
    set: StatefulSet,
    steps: readonly ReplicaStep[],
    signal: AbortSignal,
  ): Promise<{ readonly error: unknown } | undefined> {
    const isOrdered = set.spec?.podManagementPolicy !== 'Parallel';
    let failure: { readonly error: unknown } | undefined;
    for (const step of steps) {
      try {
        await this.#take(set, step, signal);
      } catch (error) {
        failure ??= { error };
        if (isOrdered || signal.aborted) return failure;
      }
    }
    return failure;
  }

  async #take(set: StatefulSet, step: ReplicaStep, signal: AbortSignal): Promise<void> {
    const { cluster } = this.#context;
    switch (step.kind) {
      case 'create-claim':
        return await this.#createClaim(set, step.claim, step.podName, signal);
      case 'create-pod':
        return await this.#createPod(set, step.pod, signal);
      case 'delete-pod':
        return await this.#deletePod(set, step.pod, signal);
      case 'identify-pod':
        return await this.#identifyPod(set, step.pod, step.ordinal, signal);
      case 'own-claim':
        return await setOwners(cluster.resource(persistentVolumeClaims), step.claim, step.owners, signal);
      case 'await-claim':
        return this.#recordResult(
          set,
          'Create',
          step.podName,
          `pvc ${step.claim.metadata?.name} is being deleted`,
        );
      default:
        return unreachable(step);
    }
  }

  async #createClaim(
    set: StatefulSet,
    claim: PersistentVolumeClaim,
    podName: string,
    signal: AbortSignal,
  ): Promise<void> {
    const name = claim.metadata?.name;
    const about = `Claim ${name} Pod ${podName} in StatefulSet ${set.metadata?.name}`;
    try {
      await this.#context.cluster.resource(persistentVolumeClaims).create(claim, { signal });
      this.#record(set, 'Normal', 'SuccessfulCreate', `Create ${about} success`);
    } catch (error) {
      const text = `Create Claim ${name} for Pod ${podName} in StatefulSet ${set.metadata?.name} failed error: `;
      if (!isReason(error, 'AlreadyExists') && !signal.aborted) {
        this.#record(set, 'Warning', 'FailedCreate', text + messageOf(error));
        this.#recordResult(set, 'Create', podName, `failed to create PVC ${name}: ${messageOf(error)}`);
      }
      throw error;
    }
  }

  async #createPod(set: StatefulSet, pod: Pod, signal: AbortSignal): Promise<void> {
    const name = pod.metadata?.name ?? '';
    try {
      await this.#context.cluster.resource(pods).create(pod, { signal });
      this.#recordResult(set, 'Create', name);
    } catch (error) {
      if (!isReason(error, 'AlreadyExists') && !signal.aborted)
        this.#recordResult(set, 'Create', name, messageOf(error));
      throw error;
    }
  }

  async #deletePod(set: StatefulSet, pod: Pod, signal: AbortSignal): Promise<void> {
    const name = pod.metadata?.name ?? '';
    try {
      await deleteIfUnchanged(this.#context.cluster.resource(pods), pod, signal);
      this.#recordResult(set, 'Delete', name);
    } catch (error) {
      // A conflict is not a failure to report: the set is reconciled again.
      if (!isReason(error, 'Conflict') && !signal.aborted)
        this.#recordResult(set, 'Delete', name, messageOf(error));
      throw error;
    }
  }

  async #identifyPod(set: StatefulSet, pod: Pod, ordinal: number, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, namespace, name = '' } = pod.metadata ?? {};
    const body = { metadata: { uid, resourceVersion, labels: identityLabels(name, ordinal) } };
    await this.#context.cluster
      .resource(pods)
      .patch({ namespace, name }, { type: 'merge', body }, { signal });
    this.#recordResult(set, 'Update', name);
  }

  async #writeStatus(
    { metadata }: StatefulSet,
    { status }: ReplicaStage,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion, namespace, name = '' } = metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, status: setStatusPatch(status) };
    const client = this.#context.cluster.resource(statefulSets);
    await client.patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status', signal });
  }

  #recordResult(set: StatefulSet, what: Result, podName: string, failure?: string): void {
    const about = `${what} Pod ${podName} in StatefulSet ${set.metadata?.name}`;
    if (failure === undefined) this.#record(set, 'Normal', `Successful${what}`, `${about} successful`);
    else this.#record(set, 'Warning', `Failed${what}`, `${about} failed error: ${failure}`);
  }

  #record(set: StatefulSet, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const regarding = referenceTo(set, { apiVersion: apiVersionOf(statefulSets), kind: statefulSets.kind });
    this.#context.events.record({ regarding, type, reason, action: 'Reconcile', note });
  }
}

import { hasTemplateOf, specReplicasOf } from '../../../engine/workloads/replica-set-family.ts';
import { revisionAnnotation, sizeAnnotations } from '../../../engine/workloads/revision-annotations.ts';
import type { Resize } from '../../../engine/workloads/rollout.ts';
import type { Deployment, DeploymentCondition, ReplicaSet } from '../../../kube/api/apps.ts';
import type { StringMap } from '../../../kube/api/meta.ts';
import { isReason } from '../../../kube/api-error.ts';
import { controllerReference, isControlledBy } from '../../../kube/owner-references.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { deployments, replicaSets } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import { unreachable } from '../../../runtime/assert.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import { adoptAndRelease } from '../pods/adoption.ts';
import { deleteIfUnchanged } from '../pods/delete-if-unchanged.ts';
import type { DeploymentPlan, RolloutStage } from './deployment-plan.ts';
import {
  deploymentStatusPatch,
  hasDeadline,
  progressCondition,
  withDeploymentCondition,
} from './deployment-status.ts';

/** Executes a plan for a deployment, write by write. */
export class DeploymentWriter {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  async apply(deployment: Deployment, plan: DeploymentPlan, signal: AbortSignal): Promise<void> {
    const sets = this.#context.cluster.resource(replicaSets);
    switch (plan.kind) {
      case 'ignored':
        return;
      case 'claim':
        return await adoptAndRelease(sets, plan.sets, controllerReference(deployment, deployments), signal);
      case 'annotate': {
        const { set, annotations, minReadySeconds } = plan;
        return await this.#patchSet(set, annotations, { minReadySeconds: minReadySeconds || null }, signal);
      }
      case 'annotate-deployment':
        return await this.#annotate(deployment, plan.annotations, plan.progress, signal);
      case 'create':
        return await this.#create(deployment, plan.set, signal);
      case 'rollout':
        return await this.#rollOut(deployment, plan, signal);
      default:
        unreachable(plan);
    }
  }

  async #rollOut(deployment: Deployment, stage: RolloutStage, signal: AbortSignal): Promise<void> {
    for (const resize of stage.resizes) await this.#resize(deployment, resize, signal);
    const client = this.#context.cluster.resource(replicaSets);
    for (const set of stage.expired) await deleteIfUnchanged(client, set, signal);
    if (!stage.isStatusCurrent)
      await this.#patch(deployment, {}, deploymentStatusPatch(stage.status), signal);
  }

  async #resize(deployment: Deployment, { set, replicas }: Resize, signal: AbortSignal): Promise<void> {
    await this.#patchSet(set, sizeAnnotations(deployment), { replicas }, signal);
    const before = specReplicasOf(set);
    if (before === replicas) return;
    const way = before < replicas ? 'up' : 'down';
    const note = `Scaled ${way} replica set ${set.metadata?.name} from ${before} to ${replicas}`;
    this.#record(deployment, 'Normal', 'ScalingReplicaSet', note);
  }

  async #create(deployment: Deployment, set: ReplicaSet, signal: AbortSignal): Promise<void> {
    const { name = '', namespace, annotations } = set.metadata ?? {};
    const client = this.#context.cluster.resource(replicaSets);
    try {
      await client.create(set, { signal });
    } catch (error) {
      if (isReason(error, 'AlreadyExists')) {
        const taken = await undefinedIfNotFound(client.get({ namespace, name }, { signal }));
        return await this.#settleName(deployment, taken, signal);
      }
      if (!signal.aborted) await this.#reportFailure(deployment, name, error, signal);
      throw error;
    }
    if (specReplicasOf(set) > 0) {
      const note = `Scaled up replica set ${name} from 0 to ${specReplicasOf(set)}`;
      this.#record(deployment, 'Normal', 'ScalingReplicaSet', note);
    }
    const next = hasDeadline(deployment)
      ? progressCondition('NewReplicaSetCreated', `Created new replica set "${name}"`)
      : undefined;
    const revision = annotations?.[revisionAnnotation] ?? '';
    await this.#annotate(deployment, { [revisionAnnotation]: revision }, next, signal);
  }

  /** The name was taken: by ourselves, which the cache did not show yet, or by another template, which requires another name. */
  async #settleName(
    deployment: Deployment,
    taken: ReplicaSet | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (taken === undefined) return;
    if (isControlledBy(taken, deployment) && hasTemplateOf(taken, deployment)) return;
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    await this.#patch(deployment, {}, { collisionCount }, signal);
  }

  async #reportFailure(
    deployment: Deployment,
    name: string,
    error: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const message = `Failed to create new replica set "${name}": ${messageOf(error)}`;
    this.#record(deployment, 'Warning', 'ReplicaSetCreateError', message);
    if (!hasDeadline(deployment)) return;
    const failed = { ...progressCondition('ReplicaSetCreateError', message), status: 'False' } as const;
    await this.#annotate(deployment, {}, failed, signal);
  }

  async #annotate(
    deployment: Deployment,
    annotations: StringMap,
    next: DeploymentCondition | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const before = deployment.status?.conditions ?? [];
    const conditions =
      next === undefined ? before : withDeploymentCondition(before, next, this.#context.clock.nowMs());
    await this.#patch(deployment, annotations, conditions === before ? {} : { conditions }, signal);
  }

  async #patchSet(
    { metadata }: ReplicaSet,
    annotations: StringMap,
    spec: object,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion, namespace, name = '' } = metadata ?? {};
    const body = { metadata: { uid, resourceVersion, annotations }, spec };
    const client = this.#context.cluster.resource(replicaSets);
    await client.patch({ namespace, name }, { type: 'merge', body }, { signal });
  }

  /** Annotations are written with the status: written separately, they would count as a change of the spec. */
  async #patch(
    { metadata }: Deployment,
    annotations: StringMap,
    status: object,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion, namespace, name = '' } = metadata ?? {};
    const body = { metadata: { uid, resourceVersion, annotations }, status };
    const client = this.#context.cluster.resource(deployments);
    await client.patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status', signal });
  }

  #record(deployment: Deployment, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const regarding = referenceTo(deployment, {
      apiVersion: apiVersionOf(deployments),
      kind: deployments.kind,
    });
    this.#context.events.record({ regarding, type, reason, action: 'Reconcile', note });
  }
}

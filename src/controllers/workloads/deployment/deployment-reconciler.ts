import { isRolling } from '../../../engine/workloads/replica-set-family.ts';
import type { Deployment, ReplicaSet } from '../../../kube/api/apps.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { keyOf, parseKey } from '../../../kube/object-key.ts';
import { controllerOf } from '../../../kube/owner-references.ts';
import { isFinished } from '../../../kube/pods.ts';
import { deployments, pods, replicaSets } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { Dependents } from '../pods/dependents.ts';
import {
  type DeploymentPlan,
  type DeploymentPlanInput,
  isDeploymentSettled,
  planDeployment,
} from './deployment-plan.ts';
import { DeploymentWriter } from './deployment-writer.ts';

/** Members, paused or not, the new set, its annotations and ours, and then the sizes. */
const stagesMax = 8;

export interface DeploymentReconcilerOptions {
  /** Queues a deployment by its key. */
  readonly enqueue: (key: string) => void;
  /** The cached pods of a replica set. */
  readonly podsOf: (set: ReplicaSet) => readonly Pod[];
}

/** Brings a deployment's replica sets to its template, and to its size. */
export class DeploymentReconciler {
  readonly caches: readonly { synced(signal: AbortSignal): Promise<boolean> }[];
  readonly #context: ControllerContext;
  readonly #enqueue: (key: string) => void;
  readonly #writer: DeploymentWriter;
  readonly #deployments: Informer<Deployment>;
  readonly #sets: Dependents<ReplicaSet>;
  readonly #podsOf: (set: ReplicaSet) => readonly Pod[];
  /** Keys of deployments by uid. */
  readonly #keys = new Map<string, string>();

  constructor(context: ControllerContext, { enqueue, podsOf }: DeploymentReconcilerOptions) {
    this.#context = context;
    this.#writer = new DeploymentWriter(context);
    this.#podsOf = podsOf;
    this.#enqueue = enqueue;
    this.#deployments = context.informers.of(deployments);
    const cache = context.informers.of(replicaSets);
    this.#sets = new Dependents(cache, {
      owned: (uid) => this.#wake(uid),
      orphan: ({ metadata }) => this.#wakeNamespace(metadata?.namespace),
    });
    this.caches = [this.#deployments, cache];
  }

  listen(): readonly (() => void)[] {
    const changed = (deployment: Deployment) => {
      this.#keys.set(deployment.metadata?.uid ?? '', keyOf(deployment));
      this.#enqueue(keyOf(deployment));
    };
    const gone = (deployment: Deployment) => this.#keys.delete(deployment.metadata?.uid ?? '');
    return [
      this.#deployments.addHandler({ added: changed, updated: changed, deleted: gone }),
      this.#sets.listen(),
    ];
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const cached = this.#deployments.get(key);
    if (cached === undefined) return undefined;
    const plan = planDeployment(this.#cachedInput(cached));
    if (isDeploymentSettled(plan)) return requeueFor(plan);
    for (let stage = 0; stage < stagesMax; stage++) {
      const input = await this.#liveInput(key, signal);
      if (input === undefined) return undefined;
      const next = planDeployment(input);
      await this.#writer.apply(input.deployment, next, signal);
      if (next.kind === 'rollout' || next.kind === 'ignored') return requeueFor(next);
    }
    return {};
  }

  #wake(uid: string): void {
    const key = this.#keys.get(uid);
    if (key !== undefined) this.#enqueue(key);
  }

  #wakeNamespace(namespace: string | undefined): void {
    for (const deployment of this.#deployments.values())
      if (deployment.metadata?.namespace === namespace) this.#enqueue(keyOf(deployment));
  }

  #cachedInput(deployment: Deployment): DeploymentPlanInput {
    return {
      deployment,
      replicaSets: this.#sets.ownedOrOrphaned(deployment),
      hasPods: (set) => this.#podsOf(set).some((pod) => !isFinished(pod)),
      nowMs: this.#context.clock.nowMs(),
    };
  }

  async #liveInput(key: string, signal: AbortSignal): Promise<DeploymentPlanInput | undefined> {
    const { cluster, clock } = this.#context;
    const { namespace, name } = parseKey(key);
    const deployment = await undefinedIfNotFound(
      cluster.resource(deployments).get({ namespace, name }, { signal }),
    );
    if (deployment === undefined) return undefined;
    const { items } = await cluster.resource(replicaSets).list({ namespace, signal });
    // Only deployments that wait for the last old pod need to know about pods.
    const needsPods = !isRolling(deployment);
    const podsAround = needsPods ? (await cluster.resource(pods).list({ namespace, signal })).items : [];
    const holders = new Set(
      podsAround.filter((pod) => !isFinished(pod)).map((pod) => controllerOf(pod)?.uid),
    );
    const hasPods = ({ metadata }: ReplicaSet) => holders.has(metadata?.uid);
    return { deployment, replicaSets: items, hasPods, nowMs: clock.nowMs() };
  }
}

function requeueFor(plan: DeploymentPlan): Requeue | undefined {
  const afterMs = plan.kind === 'rollout' ? plan.untilDeadlineMs : undefined;
  return afterMs === undefined ? undefined : { afterMs };
}

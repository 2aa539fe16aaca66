import { defineController, type LoopContext, type Reconciler } from '../../../reconcile/define-controller.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { DeploymentReconciler } from './deployment-reconciler.ts';
import { ReplicaSetReconciler } from './replica-set-reconciler.ts';

/**
 * Deployments and their replica sets.
 *
 * The cache only shows whether there is anything to do; actions are decided on a live read, which includes our own latest
 * writes. A replica set is named by the hash of its template and a pod by its slot number, so a second creation has
 * the same name, and fails. Every other write carries the uid and the version that was read. So the controller may crash after any of
 * them: the next run reads the state and continues.
 */
export const deploymentController = defineController({
  name: 'deployment',
  workers: 8,
  create: (context) => new RolloutReconciler(context),
});

/** Keys are `deployment NAMESPACE/NAME` and `replicaset NAMESPACE/NAME`. */
class RolloutReconciler implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #replicaSets: ReplicaSetReconciler;
  readonly #deployments: DeploymentReconciler;

  constructor(context: LoopContext) {
    const { queue } = context;
    this.#replicaSets = new ReplicaSetReconciler(context, (key) => queue.add(`replicaset ${key}`));
    this.#deployments = new DeploymentReconciler(context, {
      enqueue: (key) => queue.add(`deployment ${key}`),
      podsOf: (set) => this.#replicaSets.podsOf(set),
    });
    this.caches = [...this.#replicaSets.caches, ...this.#deployments.caches];
  }

  listen(): readonly (() => void)[] {
    return [...this.#replicaSets.listen(), ...this.#deployments.listen()];
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const [what, rest = ''] = key.split(' ');
    const reconciler = what === 'deployment' ? this.#deployments : this.#replicaSets;
    return await reconciler.reconcile(rest, signal);
  }
}

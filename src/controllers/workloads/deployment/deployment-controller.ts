import type { Controller } from '../../../reconcile/controller.ts';
import { runWorkers } from '../../../reconcile/workers.ts';
import { DeploymentReconciler } from './deployment-reconciler.ts';
import { ReplicaSetReconciler } from './replica-set-reconciler.ts';

const workers = 4;

/**
 * Deployments, and the replica sets that they are made of.
 *
 * The cache only tells whether there is anything to do; what is done is decided on a live read, so that what we wrote a moment ago
 * counts. A replica set bears the hash of its template and a pod the number of its place, so the same thing made a second time has
 * the same name, and fails. Every other write carries the uid and the version that was judged. So it may die after any of them: the
 * next run reads what there is and goes on.
 */
export const deployment: Controller = {
  name: 'deployment',
  async run(context, signal) {
    const replicaSets = new ReplicaSetReconciler(context);
    const deployments = new DeploymentReconciler(context, (set) => replicaSets.podsOf(set));
    const keepers = [replicaSets, deployments];
    const caches = keepers.flatMap((keeper) => keeper.caches);
    const synced = await Promise.all(caches.map((cache) => cache.synced(signal)));
    if (!synced.every(Boolean)) return;
    const stop = keepers.flatMap((keeper) => keeper.listen());
    const onError = (error: unknown, key: string) =>
      context.report({ controller: deployment.name, key, error });
    try {
      await Promise.all(
        keepers.map((keeper) =>
          runWorkers(keeper.queue, (key) => keeper.reconcile(key, signal), { workers, signal, onError }),
        ),
      );
    } finally {
      for (const end of stop) end();
    }
  },
};

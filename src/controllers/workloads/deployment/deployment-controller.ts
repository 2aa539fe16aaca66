import type { Controller } from '../../../reconcile/controller.ts';
import { runWorkers } from '../../../reconcile/workers.ts';
import { DeploymentReconciler } from './deployment-reconciler.ts';
import { ReplicaSetReconciler } from './replica-set-reconciler.ts';

const workers = 4;

/**
 * Deployments and their replica sets.
 *
 * The cache only shows whether there is anything to do; actions are decided on a live read, which includes our own latest
 * writes. A replica set is named by the hash of its template and a pod by its slot number, so a second creation has
 * the same name, and fails. Every other write carries the uid and the version that was read. So the controller may crash after any of
 * them: the next run reads the state and continues.
 */
export const deployment: Controller = {
  name: 'deployment',
  async run(context, signal) {
    const replicaSets = new ReplicaSetReconciler(context);
    const deployments = new DeploymentReconciler(context, (set) => replicaSets.podsOf(set));
    const reconcilers = [replicaSets, deployments];
    const caches = reconcilers.flatMap((reconciler) => reconciler.caches);
    const synced = await Promise.all(caches.map((cache) => cache.synced(signal)));
    if (!synced.every(Boolean)) return;
    const stop = reconcilers.flatMap((reconciler) => reconciler.listen());
    const onError = (error: unknown, key: string) =>
      context.report({ controller: deployment.name, key, error });
    try {
      await Promise.all(
        reconcilers.map((reconciler) =>
          runWorkers(reconciler.queue, (key) => reconciler.reconcile(key, signal), {
            workers,
            signal,
            onError,
          }),
        ),
      );
    } finally {
      for (const end of stop) end();
    }
  },
};

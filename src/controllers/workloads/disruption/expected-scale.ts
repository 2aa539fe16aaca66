import type { Cluster } from '../../../cluster/cluster.ts';
import type { Deployment, ReplicaSet, StatefulSet } from '../../../kube/api/apps.ts';
import type { Scale } from '../../../kube/api/autoscaling.ts';
import type { Pod } from '../../../kube/api/core.ts';
import type { KubeObject, OwnerReference } from '../../../kube/api/meta.ts';
import { controllerOf } from '../../../kube/owner-references.ts';
import { deployments, replicaSets, statefulSets } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import { OwnerLookup } from '../owner-lookup.ts';
import type { ExpectedScale } from './budget-plan.ts';

interface Scaled {
  readonly uid: string;
  readonly replicas: number;
}

/** Finds the controllers of pods, and how many pods each should have. Pods of one controller count it once. */
export class ScaleLookup {
  readonly informers: readonly [Informer<ReplicaSet>, Informer<Deployment>, Informer<StatefulSet>];
  readonly #cluster: Cluster;
  readonly #owners: OwnerLookup;

  constructor(context: ControllerContext) {
    const { informers } = context;
    this.#cluster = context.cluster;
    this.#owners = new OwnerLookup(context);
    this.informers = [informers.of(replicaSets), informers.of(deployments), informers.of(statefulSets)];
  }

  async expected(pods: readonly Pod[], signal: AbortSignal): Promise<ExpectedScale> {
    const scales = new Map<string, number>();
    const seen = new Set<string>();
    const unmanaged: string[] = [];
    for (const pod of pods) {
      const controller = controllerOf(pod);
      const { name = '', namespace = '' } = pod.metadata ?? {};
      if (controller === undefined) unmanaged.push(name);
      else if (!seen.has(controller.uid ?? '')) {
        seen.add(controller.uid ?? '');
        const scaled = await this.#scaleOf(controller, namespace, signal);
        if (scaled === undefined) return { kind: 'unknown', why: `found no controllers for pod "${name}"` };
        scales.set(scaled.uid, scaled.replicas);
      }
    }
    return { kind: 'known', pods: [...scales.values()].reduce((sum, scale) => sum + scale, 0), unmanaged };
  }

  async #scaleOf(
    controller: OwnerReference,
    namespace: string,
    signal: AbortSignal,
  ): Promise<Scaled | undefined> {
    const [sets, deploymentCache, statefulCache] = this.informers;
    const isApps = controller.apiVersion?.startsWith('apps/') === true;
    if (isApps && controller.kind === 'StatefulSet')
      return scaleIn(statefulCache.get(`${namespace}/${controller.name}`), controller);
    if (!isApps || controller.kind !== 'ReplicaSet')
      return await this.#otherScale(controller, namespace, signal);
    const set = sets.get(`${namespace}/${controller.name}`);
    const owner = controllerOf(set);
    if (set?.metadata?.uid !== controller.uid || owner?.kind !== 'Deployment')
      return scaleIn(set, controller);
    return scaleIn(deploymentCache.get(`${namespace}/${owner.name}`), owner);
  }

  /** Any kind with a scale subresource reports its scale. */
  async #otherScale(
    controller: OwnerReference,
    namespace: string,
    signal: AbortSignal,
  ): Promise<Scaled | undefined> {
    const located = this.#owners.locate(controller, namespace);
    if (located === undefined) return undefined;
    const client = this.#cluster.resource(located.resource);
    const scale: (KubeObject & Scale) | undefined = await undefinedIfNotFound(
      client.get(located.key, { subresource: 'scale', signal }),
    );
    return scaleIn(scale, controller);
  }
}

function scaleIn(
  object: (KubeObject & { readonly spec?: { readonly replicas?: number } }) | undefined,
  { uid }: OwnerReference,
): Scaled | undefined {
  if (object === undefined || uid === undefined || object.metadata?.uid !== uid) return undefined;
  return { uid, replicas: object.spec?.replicas ?? 1 };
}

import type { Cluster } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import { coreEvents, leases, podDisruptionBudgets, priorityClasses } from '../../kube/resources.ts';
import { announcements, listPolicies } from '../../queries/view/read-others.ts';

const pageSize = 500;

/** Objects of a snapshot that the console does not follow. */
export interface OtherObjects {
  readonly objects: readonly KubeObject[];
  /** Kinds that the caller may not list. */
  readonly unread: readonly string[];
}

/** Events, the Leases of schedulers, PriorityClasses and PodDisruptionBudgets, as far as they may be read. */
export async function otherObjects(cluster: Cluster): Promise<OtherObjects> {
  const events = await listAll(cluster, coreEvents as Resource<KubeObject>);
  const announced = ((await announcements(cluster)) ?? []).map((lease) => ({ ...namesOf(leases), ...lease }));
  const { policies, unreadPolicies } = await listPolicies(cluster);
  const named = policies.map((policy) => ({
    ...policy,
    ...namesOf(policy.kind === priorityClasses.kind ? priorityClasses : podDisruptionBudgets),
  }));
  return {
    objects: [...(events ?? []), ...announced, ...named],
    unread: [...(events === undefined ? [coreEvents.plural] : []), ...unreadPolicies],
  };
}

/** Lists objects, and adds kind and version, which lists leave out. Undefined if the caller may not list them; empty if the server does not serve them. */
export async function listAll(
  cluster: Cluster,
  resource: Resource<KubeObject>,
): Promise<readonly KubeObject[] | undefined> {
  const found: KubeObject[] = [];
  const named = namesOf(resource);
  let next: string | undefined;
  try {
    do {
      const page = await cluster
        .resource(resource)
        .list({ limit: pageSize, ...(next && { continue: next }) });
      for (const item of page.items) found.push({ ...named, ...item });
      next = page.metadata.continue;
    } while (next);
    return found;
  } catch (error) {
    if (isReason(error, 'NotFound')) return [];
    if (isReason(error, 'Forbidden')) return undefined;
    throw error;
  }
}

/** Objects in lists do not say what they are. */
function namesOf(resource: Resource): { readonly apiVersion: string; readonly kind: string } {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind };
}

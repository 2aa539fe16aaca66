import type { Cluster } from '../../cluster/cluster.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { leases, podDisruptionBudgets, priorityClasses } from '../../kube/resources.ts';
import { leaseKeyOf } from '../../reconcile/leases/component-lease.ts';

interface ReadPolicies {
  readonly policies: readonly KubeObject[];
  /** The kinds that the caller may not list. */
  readonly unreadPolicies: readonly string[];
}

/** They make a prediction more exact. */
export async function listPolicies(cluster: Cluster): Promise<ReadPolicies> {
  const lists = policyResources.map(async (resource) => {
    const { kind } = resource;
    try {
      const { items } = await cluster.resource(resource as Resource).list();
      return { kind, items: items.map((item) => ({ ...item, kind })), isForbidden: false };
    } catch (error) {
      if (!isReason(error, 'Forbidden', 'NotFound', 'BadRequest')) throw error;
      return { kind, items: [], isForbidden: isReason(error, 'Forbidden') };
    }
  });
  const read = await Promise.all(lists);
  return {
    policies: read.flatMap(({ items }) => items),
    unreadPolicies: read.flatMap(({ kind, isForbidden }) => (isForbidden ? [kind] : [])),
  };
}

const policyResources = [priorityClasses, podDisruptionBudgets] as const;

/** The Leases of our scheduler and PV binder show which rules apply. They too only add to the answer. */
export async function announcements(cluster: Cluster): Promise<readonly Lease[] | undefined> {
  const lists = announcingControllers.map(async (controller) => {
    const { namespace, name: lease } = leaseKeyOf(controller);
    const fieldSelector = `metadata.name=${lease}`;
    return (await cluster.resource(leases).list({ namespace, fieldSelector })).items;
  });
  try {
    return (await Promise.all(lists)).flat();
  } catch (error) {
    if (isReason(error, 'Forbidden', 'NotFound')) return undefined;
    throw error;
  }
}

const announcingControllers = ['scheduler', 'pv-binder'];

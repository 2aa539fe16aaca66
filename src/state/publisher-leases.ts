import type { Lease } from '../kube/api/coordination.ts';
import { publisherLeaseSelection } from '../kube/publisher-heartbeat.ts';
import { leases } from '../kube/resources.ts';
import type { Informer } from '../reconcile/informer/informer.ts';
import type { SharedInformers } from '../reconcile/shared-informers.ts';

/** Without the permission to list Leases it is unknown whether publishers run, and their capacity is used. */
const watchedLeases = { ...leases, isOptional: true };

/** The Leases that publishers of capacity renew. */
export function publisherLeaseInformer(informers: Pick<SharedInformers, 'of'>): Informer<Lease> {
  return informers.of<Lease>(watchedLeases, publisherLeaseSelection);
}

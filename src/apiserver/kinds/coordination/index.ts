/**
 * The group `coordination.k8s.io/v1`: Lease.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { leaseKind } from './lease.ts';

export const coordinationKinds: readonly ServedKind[] = [anyKind(leaseKind)];

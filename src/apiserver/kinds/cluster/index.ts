/**
 * What a cluster has besides pods, workloads and storage: configuration, services and their endpoints, events, leases,
 * classes and limits. Sentences, defaults and what a write may touch are those of Kubernetes 1.36; `testing/` holds answers
 * of the real server to compare with.
 */
import { anyKind, type Kind } from '../kind.ts';
import { configMapKind } from './config-map.ts';
import { endpointSliceKind } from './endpoint-slice.ts';
import { endpointsKind } from './endpoints.ts';
import { coreEventKind, newEventKind } from './event.ts';
import { leaseKind } from './lease.ts';
import { limitRangeKind } from './limit-range.ts';
import { priorityClassKind } from './priority-class.ts';
import { resourceQuotaKind } from './resource-quota.ts';
import { runtimeClassKind } from './runtime-class.ts';
import { secretKind } from './secret.ts';
import { serviceKind } from './service.ts';
import { serviceAccountKind } from './service-account.ts';

export const clusterKinds: readonly Kind[] = [
  anyKind(configMapKind),
  anyKind(secretKind),
  anyKind(serviceKind),
  anyKind(serviceAccountKind),
  anyKind(coreEventKind),
  anyKind(newEventKind),
  anyKind(leaseKind),
  anyKind(priorityClassKind),
  anyKind(endpointsKind),
  anyKind(endpointSliceKind),
  anyKind(limitRangeKind),
  anyKind(resourceQuotaKind),
  anyKind(runtimeClassKind),
];

/**
 * The core group, `v1`. README.md describes its folders.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { configMapKind } from './config/config-map.ts';
import { secretKind } from './config/secret.ts';
import { coreEventKind } from './events/event.ts';
import { namespaceKind } from './namespaces/namespace.ts';
import { nodeKind } from './nodes/node.ts';
import { podKind } from './pods/pod.ts';
import { limitRangeKind } from './quota/limit-range.ts';
import { resourceQuotaKind } from './quota/resource-quota.ts';
import { serviceAccountKind } from './service-accounts/service-account.ts';
import { endpointsKind } from './services/endpoints.ts';
import { serviceKind } from './services/service.ts';
import { persistentVolumeKind } from './volumes/persistent-volume.ts';
import { persistentVolumeClaimKind } from './volumes/persistent-volume-claim.ts';
import { podTemplateKind } from './workloads/pod-template.ts';
import { replicationControllerKind } from './workloads/replication-controller.ts';

export const coreKinds: readonly ServedKind[] = [
  anyKind(namespaceKind),
  anyKind(nodeKind),
  anyKind(podKind),
  anyKind(podTemplateKind),
  anyKind(persistentVolumeKind),
  anyKind(persistentVolumeClaimKind),
  anyKind(replicationControllerKind),
  anyKind(configMapKind),
  anyKind(secretKind),
  anyKind(serviceKind),
  anyKind(serviceAccountKind),
  anyKind(coreEventKind),
  anyKind(endpointsKind),
  anyKind(limitRangeKind),
  anyKind(resourceQuotaKind),
];

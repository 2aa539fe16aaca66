import { apiextensionsKinds } from './apiextensions/index.ts';
import { appsKinds } from './apps/index.ts';
import { batchKinds } from './batch/index.ts';
import { coordinationKinds } from './coordination/index.ts';
import { coreKinds } from './core/index.ts';
import { discoveryKinds } from './discovery/index.ts';
import { eventsKinds } from './events/index.ts';
import { KindCatalog } from './kind-catalog.ts';
import { nodeGroupKinds } from './node/index.ts';
import { policyKinds } from './policy/index.ts';
import { rbacKinds } from './rbac/index.ts';
import { resourceKinds } from './resource/index.ts';
import { schedulingKinds } from './scheduling/index.ts';
import type { ServedKind } from './served-kind.ts';
import { storageKinds } from './storage/index.ts';

/**
 * All kinds that the server serves by itself. A kind that is not listed is absent from discovery, and requests for it get 404.
 * Discovery lists groups, and the kinds of a group, in this order.
 */
const builtInKinds: readonly ServedKind[] = [
  ...coreKinds,
  ...storageKinds,
  ...appsKinds,
  ...batchKinds,
  ...policyKinds,
  ...eventsKinds,
  ...coordinationKinds,
  ...schedulingKinds,
  ...discoveryKinds,
  ...nodeGroupKinds,
  ...rbacKinds,
  ...resourceKinds,
  ...apiextensionsKinds,
];

export function builtInKindCatalog(): KindCatalog {
  return new KindCatalog(builtInKinds);
}

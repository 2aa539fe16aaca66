import { accessKinds } from './access/index.ts';
import { KindCatalogue } from './catalogue.ts';
import { clusterKinds } from './cluster/index.ts';
import { extensionKinds } from './extensions/index.ts';
import type { Kind } from './kind.ts';
import { podKinds } from './pods/index.ts';
import { storageKinds } from './storage/index.ts';
import { storedOnlyKinds } from './stored-only/index.ts';
import { workloadKinds } from './workloads/index.ts';

/** All kinds that the embedded server serves. One that is not in here is absent from discovery and answered with 404. */
const servedKinds: readonly Kind[] = [
  ...podKinds,
  ...storageKinds,
  ...workloadKinds,
  ...clusterKinds,
  ...accessKinds,
  ...storedOnlyKinds,
  ...extensionKinds,
];

export function servedCatalogue(): KindCatalogue {
  return new KindCatalogue(servedKinds);
}

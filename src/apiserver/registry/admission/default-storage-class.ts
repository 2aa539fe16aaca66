import type { PersistentVolumeClaim } from '../../../kube/api/stored/core.ts';
import type { StorageClass } from '../../../kube/api/stored/storage.ts';
import { annotations } from '../../../kube/well-known.ts';
import { listAllObjects, type RegistryContext } from '../context/registry-context.ts';
import { isKind, type WriteAttempt } from './write-attempt.ts';

/** Sets the default class, if there is one, on a claim without a class. An empty name counts as a class. */
export function setDefaultStorageClass(context: RegistryContext, attempt: WriteAttempt): void {
  if (!isKind(attempt, '', 'PersistentVolumeClaim') || attempt.operation !== 'CREATE') return;
  const claim = attempt.object as PersistentVolumeClaim;
  if (claim.metadata.annotations?.[annotations.betaStorageClass] !== undefined) return;
  if (claim.spec?.storageClassName !== undefined) return;
  const chosen = defaultClass(context);
  if (chosen !== undefined) claim.spec = { ...claim.spec, storageClassName: chosen.metadata.name };
}

/** The newest default class; of several equally new ones the first by name. */
function defaultClass(context: RegistryContext): StorageClass | undefined {
  const kind = context.kinds.byPlural('storage.k8s.io/v1', 'storageclasses');
  if (kind === undefined) return undefined;
  const defaults = listAllObjects<StorageClass>(context, kind).filter(isDefault);
  return defaults.sort(byAge)[0];
}

function isDefault({ metadata }: StorageClass): boolean {
  const given = metadata.annotations;
  return given?.[annotations.isDefaultClass] === 'true' || given?.[annotations.betaIsDefaultClass] === 'true';
}

function byAge({ metadata: a }: StorageClass, { metadata: b }: StorageClass): number {
  const [bornA = '', bornB = ''] = [a.creationTimestamp, b.creationTimestamp].map((time) => time ?? '');
  if (bornA !== bornB) return bornA > bornB ? -1 : 1;
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1;
}

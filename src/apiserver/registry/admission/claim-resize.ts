import type { PersistentVolumeClaim } from '../../../kube/api/stored/core.ts';
import type { StorageClass } from '../../../kube/api/stored/storage.ts';
import { forbidden } from '../../../kube/api-error.ts';
import { compareQuantities, parseQuantity } from '../../../kube/quantities/quantity.ts';
import { annotations } from '../../../kube/well-known.ts';
import { findObject, type RegistryContext } from '../context/registry-context.ts';
import { isKind, type WriteAttempt } from './write-attempt.ts';

/** A bound claim may grow if its class allows it. */
export function checkClaimResize(context: RegistryContext, attempt: WriteAttempt): void {
  const { kind, operation, old, write } = attempt;
  if (!isKind(attempt, '', 'PersistentVolumeClaim') || operation !== 'UPDATE') return;
  if (write.subresource !== undefined) return;
  const claim = attempt.object as PersistentVolumeClaim;
  const before = old as PersistentVolumeClaim;
  if (!isLarger(claim, before)) return;
  const name = claim.metadata.name ?? '';
  if (before.status?.phase !== 'Bound') {
    throw forbidden(kind, name, 'Only bound persistent volume claims can be expanded');
  }
  if (!allowsExpansion(context, claim, before)) {
    throw forbidden(
      kind,
      name,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
  }
}

function isLarger(claim: PersistentVolumeClaim, before: PersistentVolumeClaim): boolean {
  const wanted = parseQuantity(claim.spec?.resources?.requests?.storage ?? '0');
  const had = parseQuantity(before.spec?.resources?.requests?.storage ?? '0');
  return wanted.ok && had.ok && compareQuantities(wanted.quantity, had.quantity) > 0;
}

function allowsExpansion(
  context: RegistryContext,
  claim: PersistentVolumeClaim,
  before: PersistentVolumeClaim,
): boolean {
  const name = classOf(claim);
  const kind = context.kinds.byPlural('storage.k8s.io/v1', 'storageclasses');
  if (name === '' || name !== classOf(before) || kind === undefined) return false;
  const found = findObject(context, kind, { name })?.snapshot.object as StorageClass | undefined;
  return found?.allowVolumeExpansion === true;
}

function classOf({ metadata, spec }: PersistentVolumeClaim): string {
  return metadata.annotations?.[annotations.betaStorageClass] ?? spec?.storageClassName ?? '';
}

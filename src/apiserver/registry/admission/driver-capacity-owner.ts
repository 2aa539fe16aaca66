import type { KubeObject } from '../../../kube/api/meta.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { csiDrivers, driverCapacities } from '../../../kube/resources.ts';
import { driverOfCapacity } from '../../../kube/stowage/driver-capacity.ts';
import { findObject, type RegistryContext } from '../context/registry-context.ts';
import { isKind, type WriteAttempt } from './write-attempt.ts';

/**
 * Makes the CSIDriver that `spec.driver` names, else the one of the same name, the owner of a DriverCapacity, so that the garbage collector deletes the figures of a driver that was
 * removed. Publishers need not know the uid of their driver. If the driver is created later, the next write sets the owner, also a write to the
 * status.
 */
export function setDriverCapacityOwner(context: RegistryContext, attempt: WriteAttempt): void {
  if (attempt.operation === 'DELETE') return;
  if (!isKind(attempt, driverCapacities.group, driverCapacities.kind)) return;
  const { metadata } = attempt.object;
  const { ownerReferences = [] } = metadata;
  const name = driverOfCapacity(attempt.object as KubeObject);
  if (metadata.deletionTimestamp !== undefined) return;
  if (ownerReferences.some(({ kind }) => kind === csiDrivers.kind)) return;
  const drivers = context.kinds.byPlural(apiVersionOf(csiDrivers), csiDrivers.plural);
  const uid = drivers && findObject(context, drivers, { name })?.snapshot.object.metadata.uid;
  if (uid === undefined) return;
  const owner = { apiVersion: apiVersionOf(csiDrivers), kind: csiDrivers.kind, name, uid };
  metadata.ownerReferences = [...ownerReferences, owner];
}

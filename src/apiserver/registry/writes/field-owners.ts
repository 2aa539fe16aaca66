import type { ObjectMeta } from '../../../kube/api/stored/meta.ts';
import { isEqualWhenStored } from '../../../kube/deep-equal.ts';
import type { JsonObject } from '../../../kube/go/json-value.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { withoutNewTimes } from '../../managed-fields/unchanged-times.ts';
import { updateManagedFields } from '../../managed-fields/update-managers.ts';
import { type RegistryContext, timestamp } from '../context/registry-context.ts';
import type { UpdateContext } from '../registry.ts';
import { versionedWrite } from './versioned-write.ts';

export interface OwnedWrite {
  readonly kind: ServedKind;
  readonly object: StoredObject;
  readonly old: StoredObject | undefined;
  readonly write: UpdateContext;
}

/** Records the field owners after this write in the object. Fields that admission sets later have no owner. */
export function recordFieldOwners(context: RegistryContext, { kind, object, old, write }: OwnedWrite): void {
  if (write.hasFieldOwners === true) return;
  const { subresource = '', manager } = write;
  const owners = updateManagedFields({
    old: old as unknown as JsonObject | undefined,
    next: object as unknown as JsonObject,
    ...versionedWrite(kind, kind.hasStatus, subresource),
    manager,
    subresource,
    time: timestamp(context),
  });
  setOwners(object.metadata, owners as ObjectMeta['managedFields']);
}

/** Whether the new object equals the old one, apart from the times of its field owners. If it does, the old times are restored. */
export function changesNothing(object: StoredObject, old: StoredObject): boolean {
  const owners = object.metadata.managedFields;
  const kept = withoutNewTimes(owners as Owners, old.metadata.managedFields as Owners);
  setOwners(object.metadata, kept as ObjectMeta['managedFields']);
  if (isEqualWhenStored(object, old)) return true;
  setOwners(object.metadata, owners);
  return false;
}

type Owners = Parameters<typeof withoutNewTimes>[0];

function setOwners(metadata: ObjectMeta, owners: ObjectMeta['managedFields']): void {
  if (owners === undefined) delete metadata.managedFields;
  else metadata.managedFields = owners;
}

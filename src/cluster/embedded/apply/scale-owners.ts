import { difference, type FieldSet, intersection, isEmptySet, leaf } from '../managed-fields/field-set.ts';
import {
  type ManagedFieldsEntry,
  type Manager,
  trustManagers,
  withFields,
  writeManagers,
} from '../managed-fields/managers.ts';

type Owners = readonly ManagedFieldsEntry[] | undefined;

const scaleVersion = 'autoscaling/v1';
/** The same place in a Scale and in all that can be scaled. */
const replicas: FieldSet = { 'f:spec': { 'f:replicas': leaf } };

/** Who owns the replicas of a workload, as owners of its Scale. */
export function ownersOfScale(owners: Owners): Owners {
  const managers = (trustManagers(owners ?? []) ?? []).filter(ownsReplicas);
  return writeManagers(
    managers.map((manager) => ({ ...manager, apiVersion: scaleVersion, fields: replicas, entry: undefined })),
  );
}

/** The owners of a workload after its Scale was applied: only whose the replicas are has changed. */
export function ownersOfScaled(owners: Owners, ofScale: Owners, apiVersion: string): Owners {
  const scaling = (trustManagers(ofScale ?? []) ?? []).filter(ownsReplicas);
  const before = trustManagers(owners ?? []) ?? [];
  const kept = before
    .map((manager) => (isAmong(scaling, manager) ? manager : withoutReplicas(manager)))
    .filter((manager) => manager !== undefined);
  const added = scaling
    .filter((manager) => !isAmong(before.filter(ownsReplicas), manager))
    .map((manager) => ({ ...manager, apiVersion, fields: replicas, entry: undefined }));
  return writeManagers([...kept, ...added]);
}

function ownsReplicas({ fields }: Manager): boolean {
  return !isEmptySet(intersection(fields, replicas));
}

function withoutReplicas(manager: Manager): Manager | undefined {
  return withFields(manager, difference(manager.fields, replicas));
}

/** The two differ in the version that they wrote through. */
function isAmong(managers: readonly Manager[], { name, operation, subresource }: Manager): boolean {
  return managers.some(
    (other) => other.name === name && other.operation === operation && other.subresource === subresource,
  );
}

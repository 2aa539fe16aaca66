import type { ManagedFieldsEntry } from '../../kube/api/stored/meta.ts';
import { difference, type FieldSet, intersection, isEmptySet, leaf } from '../managed-fields/field-set.ts';
import { type Manager, trustManagers, withFields, writeManagers } from '../managed-fields/managers.ts';

type Owners = readonly ManagedFieldsEntry[] | undefined;

const scaleVersion = 'autoscaling/v1';
/** The field of a Scale that has the desired number. */
const scaleReplicas = fieldAt('.spec.replicas');

/** The owners of a scalable workload. */
export interface ScalableOwners {
  readonly owners: Owners;
  /** The version of the write. */
  readonly apiVersion: string;
  /** The path of the field that has the desired number. */
  readonly replicasPath: string;
}

/** The owners of the replicas of a workload, as owners of its Scale. */
export function ownersOfScale({ owners, replicasPath }: ScalableOwners): Owners {
  const replicas = fieldAt(replicasPath);
  const managers = managersOf(owners).filter((manager) => owns(manager, replicas));
  return writeManagers(
    managers.map((manager) => ({
      ...manager,
      apiVersion: scaleVersion,
      fields: scaleReplicas,
      entry: undefined,
    })),
  );
}

/** The owners of a workload after an apply to its Scale: only the ownership of the replicas changes. */
export function ownersAfterScale(
  { owners, apiVersion, replicasPath }: ScalableOwners,
  scaleOwners: Owners,
): Owners {
  const replicas = fieldAt(replicasPath);
  const scaling = managersOf(scaleOwners).filter((manager) => owns(manager, scaleReplicas));
  const before = managersOf(owners);
  const kept = before
    .map((manager) => (isAmong(scaling, manager) ? manager : without(manager, replicas)))
    .filter((manager) => manager !== undefined);
  const owning = before.filter((manager) => owns(manager, replicas));
  const added = scaling
    .filter((manager) => !isAmong(owning, manager))
    .map((manager) => ({ ...manager, apiVersion, fields: replicas, entry: undefined }));
  return writeManagers([...kept, ...added]);
}

function fieldAt(path: string): FieldSet {
  const steps = path.replace(/^\./, '').split('.');
  return steps.reduceRight<FieldSet>((inner, step) => ({ [`f:${step}`]: inner }), leaf);
}

function managersOf(owners: Owners): readonly Manager[] {
  return trustManagers(owners ?? []) ?? [];
}

function owns({ fields }: Manager, replicas: FieldSet): boolean {
  return !isEmptySet(intersection(fields, replicas));
}

function without(manager: Manager, replicas: FieldSet): Manager | undefined {
  return withFields(manager, difference(manager.fields, replicas));
}

/** The two were written through different versions. */
function isAmong(managers: readonly Manager[], { name, operation, subresource }: Manager): boolean {
  return managers.some(
    (other) => other.name === name && other.operation === operation && other.subresource === subresource,
  );
}

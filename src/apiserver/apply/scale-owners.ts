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
/** Where a Scale has the number that is wanted. */
const ofScales = fieldAt('.spec.replicas');

/** What can be scaled, as far as owners are concerned. */
export interface Scaled {
  readonly owners: Owners;
  /** Written through this version. */
  readonly apiVersion: string;
  /** Where it has the number that is wanted. */
  readonly replicasPath: string;
}

/** Who owns the replicas of a workload, as owners of its Scale. */
export function ownersOfScale({ owners, replicasPath }: Scaled): Owners {
  const replicas = fieldAt(replicasPath);
  const managers = managersOf(owners).filter((manager) => owns(manager, replicas));
  return writeManagers(
    managers.map((manager) => ({ ...manager, apiVersion: scaleVersion, fields: ofScales, entry: undefined })),
  );
}

/** The owners of a workload after its Scale was applied: only whose the replicas are has changed. */
export function ownersOfScaled({ owners, apiVersion, replicasPath }: Scaled, ofScale: Owners): Owners {
  const replicas = fieldAt(replicasPath);
  const scaling = managersOf(ofScale).filter((manager) => owns(manager, ofScales));
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

/** The two differ in the version that they wrote through. */
function isAmong(managers: readonly Manager[], { name, operation, subresource }: Manager): boolean {
  return managers.some(
    (other) => other.name === name && other.operation === operation && other.subresource === subresource,
  );
}

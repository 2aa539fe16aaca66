import type { JsonObject } from '../../kube/go/json-value.ts';
import type { StructShape } from '../patch/merge-shape.ts';
import { type FieldSet, leaf, recursiveDifference } from './field-set.ts';
import type { Manager } from './managers.ts';
import { reconcileFieldSet } from './reconcile-field-set.ts';
import { typeProblems } from './typed-check.ts';
import { compareTyped, takenFields, UntypableError } from './typed-compare.ts';

/** How one version of the API treats a kind. The objects are equal in all versions except for their apiVersion. */
export interface VersionView {
  readonly shape: StructShape;
  /** Fields that a write cannot change, whatever the request says. */
  readonly resetFields?: FieldSet | undefined;
}

/** Undefined for a version that does not exist. */
type AsVersion = (apiVersion: string) => VersionView | undefined;

export interface VersionedWrite extends VersionView {
  /** The version of the write. */
  readonly apiVersion: string;
  /** The other versions, for managers that wrote through them. */
  readonly asVersion?: AsVersion | undefined;
}

/** The version that a manager wrote through; undefined if it is no longer served and its managers are dropped. */
export function versionViewOf(write: VersionedWrite, apiVersion: string): VersionView | undefined {
  if (apiVersion === write.apiVersion) return write;
  const view = write.asVersion?.(apiVersion);
  // Kubernetes does not drop the managers of unserved versions of custom resources: it fails to convert them.
  if (view === undefined && write.shape.isCustom) {
    throw new UntypableError(`request to convert CR to an invalid group/version: ${apiVersion}`);
  }
  return view;
}

/**
 * The managers whose versions are served. Their field sets are adapted to the current type, which may have changed
 * since they wrote; the object must fit every version through which a manager wrote.
 */
export function servedManagers(
  write: VersionedWrite,
  managers: readonly Manager[],
  live: JsonObject,
): readonly Manager[] {
  const served: Manager[] = [];
  const views = new Map<string, VersionView | undefined>();
  for (const manager of managers) {
    const { apiVersion } = manager;
    // Once for each version, not for each manager: checking the object takes a walk over it.
    if (!views.has(apiVersion)) views.set(apiVersion, fittingView(write, apiVersion, live));
    const view = views.get(apiVersion);
    if (view === undefined) continue;
    served.push(view.shape.isCustom ? fitting(manager, view) : manager);
  }
  return served;
}

function fittingView(write: VersionedWrite, apiVersion: string, live: JsonObject): VersionView | undefined {
  const view = versionViewOf(write, apiVersion);
  if (view !== undefined && view !== write) requireFit(live, view.shape);
  return view;
}

function fitting(manager: Manager, { shape }: VersionView): Manager {
  const fields = reconcileFieldSet(manager.fields, shape);
  return fields === manager.fields ? manager : { ...manager, fields, entry: undefined };
}

/**
 * Throws if an object of a custom kind does not fit the shape. Stored objects need not fit, because the schema can
 * change and versions differ.
 */
export function requireFit(
  object: JsonObject,
  shape: StructShape,
  message = '',
  allowsDuplicates = false,
): void {
  if (!shape.isCustom) return;
  const problems = typeProblems(object, shape, { allowsDuplicates });
  if (problems !== undefined) throw new UntypableError(`${message}${problems}`);
}

/** The fields that a change takes from their previous owners. */
export interface OwnershipChange {
  /** Added and modified fields: the writer owns them from now on. */
  readonly taken: FieldSet;
  readonly removed: FieldSet;
}

/** The change as each version sees it, computed once per version. */
export function changesByVersion(
  write: VersionedWrite,
  old: JsonObject,
  next: JsonObject,
): (apiVersion: string) => OwnershipChange {
  const changes = new Map<string, OwnershipChange>();
  return (apiVersion) => {
    let change = changes.get(apiVersion);
    if (change === undefined) {
      const view = versionViewOf(write, apiVersion) ?? write;
      if (view !== write) requireFit(next, view.shape, 'failed to convert new object: ');
      change = changeOf(old, next, view);
      changes.set(apiVersion, change);
    }
    return change;
  };
}

const noChange: OwnershipChange = { taken: leaf, removed: leaf };

function changeOf(old: JsonObject, next: JsonObject, { shape, resetFields }: VersionView): OwnershipChange {
  const comparison = compareTyped(old, next, shape);
  if (comparison === undefined) return noChange;
  const [taken, removed] = [takenFields(comparison), comparison.removed ?? leaf];
  if (resetFields === undefined) return { taken, removed };
  return {
    taken: recursiveDifference(taken, resetFields),
    removed: recursiveDifference(removed, resetFields),
  };
}

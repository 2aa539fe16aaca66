import type { JsonObject } from '../../kube/go/json-value.ts';
import type { StructShape } from '../patch/merge-shape.ts';
import { type FieldSet, leaf, recursiveDifference } from './field-set.ts';
import type { Manager } from './managers.ts';
import { reconcileFieldSet } from './reconcile-field-set.ts';
import { typeProblems } from './typed-check.ts';
import { compareTyped, takenBy, UntypableError } from './typed-compare.ts';

/** How one version of the API sees a kind. The objects are the same in all of them, but for their apiVersion. */
export interface VersionView {
  readonly shape: StructShape;
  /** What a write does not change, whatever it says. */
  readonly resetFields?: FieldSet | undefined;
}

/** Undefined for a version that there is not. */
type AsVersion = (apiVersion: string) => VersionView | undefined;

export interface Versioned extends VersionView {
  /** That is written through. */
  readonly apiVersion: string;
  /** The others, for managers that wrote through them. */
  readonly asVersion?: AsVersion | undefined;
}

/** The version that a manager wrote through; undefined where it is gone and its managers are to be forgotten. */
export function versionViewOf(write: Versioned, apiVersion: string): VersionView | undefined {
  if (apiVersion === write.apiVersion) return write;
  const view = write.asVersion?.(apiVersion);
  // Kubernetes does not forget versions of custom resources: it does not know what to do with their managers at all.
  if (view === undefined && write.shape.isCustom) {
    throw new UntypableError(`request to convert CR to an invalid group/version: ${apiVersion}`);
  }
  return view;
}

/**
 * The managers whose versions there are. What they own fits the type of today, which may be another than when they wrote; the
 * object must fit every version that somebody wrote through.
 */
export function servedManagers(
  write: Versioned,
  managers: readonly Manager[],
  live: JsonObject,
): readonly Manager[] {
  const served: Manager[] = [];
  for (const manager of managers) {
    const view = versionViewOf(write, manager.apiVersion);
    if (view === undefined) continue;
    if (view !== write) requireFit(live, view.shape);
    served.push(view.shape.isCustom ? fitting(manager, view) : manager);
  }
  return served;
}

function fitting(manager: Manager, { shape }: VersionView): Manager {
  const fields = reconcileFieldSet(manager.fields, shape);
  return fields === manager.fields ? manager : { ...manager, fields, entry: undefined };
}

/** Objects of custom kinds need not fit their type, nor those of other versions. */
export function requireFit(
  object: JsonObject,
  shape: StructShape,
  message = '',
  allowsDuplicates = false,
): void {
  if (!shape.isCustom) return;
  const complaint = typeProblems(object, shape, { allowsDuplicates });
  if (complaint !== undefined) throw new UntypableError(`${message}${complaint}`);
}

/** What a change takes from others. */
export interface OwnershipChange {
  /** Added and modified: the writer's from now on. */
  readonly taken: FieldSet;
  readonly removed: FieldSet;
}

/** A change as the versions see it, each looked at once. */
export function changesByVersion(
  write: Versioned,
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

const nothing: OwnershipChange = { taken: leaf, removed: leaf };

function changeOf(old: JsonObject, next: JsonObject, { shape, resetFields }: VersionView): OwnershipChange {
  const comparison = compareTyped(old, next, shape);
  if (comparison === undefined) return nothing;
  const [taken, removed] = [takenBy(comparison), comparison.removed ?? leaf];
  if (resetFields === undefined) return { taken, removed };
  return {
    taken: recursiveDifference(taken, resetFields),
    removed: recursiveDifference(removed, resetFields),
  };
}

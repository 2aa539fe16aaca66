import { badRequest, conflict, invalid, notFound } from '../../../kube/api-error.ts';
import { isEqualWhenStored } from '../../../kube/deep-equal.ts';
import { nextInt64 } from '../../../kube/go/int64.ts';
import type { ObjectKey } from '../../../kube/resource.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { pathSegmentProblems } from '../../validation/names.ts';
import { checkObjectMeta, checkObjectMetaUpdate } from '../../validation/object-meta.ts';
import { runMutatingRules, runValidatingRules } from '../admission/admission.ts';
import { setDriverCapacityOwner } from '../admission/driver-capacity-owner.ts';
import type { WriteAttempt } from '../admission/write-attempt.ts';
import {
  type FoundObject,
  findObject,
  type RegistryContext,
  removeObject,
  storageKind,
  storeObject,
} from '../context/registry-context.ts';
import { transientSnapshot } from '../context/snapshot-cache.ts';
import type { UpdateContext, WriteResult } from '../registry.ts';
import { allocate } from './allocation.ts';
import {
  checkVersionSyntax,
  createThroughUpdate,
  namespaceMismatch,
  reportedKind,
  setNamespace,
} from './create.ts';
import { changesNothing, recordFieldOwners } from './field-owners.ts';
import { dropDuplicateOwners } from './owner-references.ts';
import { storageConflict } from './storage-conflict.ts';

export const outdatedMessage =
  'the object has been modified; please apply your changes to the latest version and try again';

/** PUT of the whole object or its status. */
export async function updateObject(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
  object: StoredObject,
  write: UpdateContext,
): Promise<WriteResult> {
  checkObjectNames(key, object);
  const found = findObject(context, kind, key);
  if (found === undefined) {
    if (kind.createOnUpdate !== true) throw notFound(kind, key.name);
    const snapshot = await createThroughUpdate(context, kind, key, object, write);
    return { snapshot, created: true };
  }
  const { uid = '' } = object.metadata;
  if (uid !== '' && uid !== found.snapshot.object.metadata.uid)
    throw storageConflict(kind, key, {
      uid,
      found: found.snapshot.object.metadata.uid ?? '',
      isDryRun: write.dryRun === true,
    });
  kind.defaults?.(object);
  return await replaceObject(context, kind, { found, object, write });
}

export interface ObjectReplacement {
  readonly found: FoundObject;
  /** Decoded and defaulted. */
  readonly object: StoredObject;
  readonly write: UpdateContext;
}

/**
 * The common part of PUT and PATCH once the new object is known: version check, field owners, admission, validation,
 * and the removal of an object that only waited for its last finalizer.
 */
export async function replaceObject(
  context: RegistryContext,
  kind: ServedKind,
  { found, object, write }: ObjectReplacement,
): Promise<WriteResult> {
  const old = found.snapshot.object;
  checkVersion(kind, object, old);
  setNamespace(kind, object, old.metadata.namespace);
  dropDuplicateOwners(object, write);
  recordFieldOwners(context, { kind, object, old, write });
  const attempt: WriteAttempt = { operation: 'UPDATE', kind, object, old, write };
  runMutatingRules(context, attempt);
  object.metadata.generation = old.metadata.generation;
  prepare(context, kind, { object, old, subresource: write.subresource });
  // Again, because a write to the status restores the metadata.
  setDriverCapacityOwner(context, attempt);
  if (write.subresource === undefined) allocate(context, kind, object);
  keepSystemFields(object, old);
  validateUpdated(storageKind(context, kind), kind, { object, old, subresource: write.subresource });
  if (write.subresource === undefined) {
    for (const warning of kind.warnings?.(object, old) ?? []) write.warn(warning);
  }
  runValidatingRules(context, attempt);
  if (isDeletionComplete(kind, object, old)) {
    // Watchers see the stored state: the result of this write was never stored.
    await removeObject(context, kind, old, found.entry, write);
    return { snapshot: transientSnapshot(object), created: false };
  }
  if (changesNothing(object, old)) return await unchanged(context, found);
  return { snapshot: await storeObject(context, kind, object, found.entry, write), created: false };
}

/** Writes nothing, so that no watcher is notified; returns the existing state. */
async function unchanged(context: RegistryContext, { snapshot }: FoundObject): Promise<WriteResult> {
  await context.store.whenDurable(snapshot.revision);
  return { snapshot, created: false };
}

/** The name and namespace in an object must match those of the request. */
export function checkObjectNames({ namespace, name }: ObjectKey, { metadata }: StoredObject): void {
  const givenNamespace = metadata.namespace ?? '';
  if (namespace !== undefined && givenNamespace !== '' && givenNamespace !== namespace)
    throw namespaceMismatch();
  const given = metadata.name ?? '';
  if (given === '') {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
}

/** An object without a version replaces any version, if its kind allows that. */
function checkVersion(kind: ServedKind, object: StoredObject, old: StoredObject): void {
  const { name = '', resourceVersion = '' } = object.metadata;
  const given = resourceVersion === '0' ? '' : resourceVersion;
  checkVersionSyntax(object);
  if (given === '') {
    if (kind.requiresResourceVersion === true) throw versionMissing(kind, name);
    object.metadata.resourceVersion = old.metadata.resourceVersion;
  } else if (given !== old.metadata.resourceVersion) {
    throw conflict(kind, old.metadata.name ?? '', outdatedMessage);
  }
}

/** Kubernetes uses the plural as the kind here, and shows the version as a number. */
function versionMissing(kind: ServedKind, name: string) {
  const errors = new FieldErrors();
  errors.invalid('metadata.resourceVersion', 0, 'must be specified for an update');
  return invalid({ group: kind.group, kind: kind.plural }, name, errors.causes);
}

interface Preparation {
  readonly object: StoredObject;
  readonly old: StoredObject;
  readonly subresource: string | undefined;
}

function prepare(
  { clock }: RegistryContext,
  kind: ServedKind,
  { object, old, subresource }: Preparation,
): void {
  const moment = { nowMs: clock.nowMs() };
  if (subresource === undefined || subresource === 'scale') {
    kind.prepareUpdate?.(object, old, moment);
    if (kind.hasGeneration && changesGeneration(kind, object, old)) {
      object.metadata.generation = nextInt64(old.metadata.generation ?? 0);
    }
  } else if (subresource === 'status') {
    if (kind.prepareStatus) kind.prepareStatus(object, old, moment);
    else restoreExcept(object, old, ['metadata', 'status']);
  } else if (subresource === 'finalize') {
    kind.prepareFinalize?.(object, old);
  }
}

function changesGeneration(kind: ServedKind, object: StoredObject, old: StoredObject): boolean {
  if (kind.incrementsGeneration) return kind.incrementsGeneration(object, old);
  const { metadata: _, status: __, ...wanted } = object as StoredObject & { status?: unknown };
  const { metadata: ___, status: ____, ...before } = old as StoredObject & { status?: unknown };
  return !isEqualWhenStored(wanted, before);
}

/** Restores all top-level fields except `kept`. */
function restoreExcept(object: StoredObject, old: StoredObject, kept: readonly string[]): void {
  const fields = object as unknown as Record<string, unknown>;
  for (const field of Object.keys(fields)) if (!kept.includes(field)) delete fields[field];
  for (const [field, value] of Object.entries(old)) if (!kept.includes(field)) fields[field] = value;
}

/** Keeps the system fields, whatever the writer sent. */
function keepSystemFields({ metadata }: StoredObject, { metadata: old }: StoredObject): void {
  if ((metadata.uid ?? '') === '') metadata.uid = old.uid;
  metadata.creationTimestamp = old.creationTimestamp;
  delete metadata.selfLink;
  if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
  metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
}

const anyName = { pathSegment: (name: string) => pathSegmentProblems(name) };

/** Errors name the kind that owns the storage. */
function validateUpdated(
  owner: ServedKind,
  kind: ServedKind,
  { object, old, subresource }: Preparation,
): void {
  const errors = new FieldErrors();
  const { namespaced, allowsAnyFinalizer = false } = kind;
  checkObjectMeta(errors, object.metadata, { namespaced, allowsAnyFinalizer, nameRule: anyName.pathSegment });
  checkObjectMetaUpdate(errors, object.metadata, old.metadata);
  if (subresource === 'status') kind.validateStatus?.(object, old, errors);
  else if (subresource === 'finalize') kind.validateFinalize?.(object, errors);
  else if (kind.validateUpdate) kind.validateUpdate(object, old, errors);
  else kind.validate(object, errors);
  if (!errors.isEmpty) throw invalid(reportedKind(owner, object), object.metadata.name ?? '', errors.causes);
}

/** Whether the last finalizer of a deleted object was removed, so that the object is to be removed. */
function isDeletionComplete(
  kind: ServedKind,
  object: StoredObject,
  { metadata: old }: StoredObject,
): boolean {
  if ((object.metadata.finalizers ?? []).length > 0 || old.deletionTimestamp === undefined) return false;
  if ((old.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  return kind.blocksRemoval?.(object) !== true;
}

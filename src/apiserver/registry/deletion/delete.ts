import type { Int64 } from '../../../kube/api/stored/meta.ts';
import { conflict } from '../../../kube/api-error.ts';
import { nextInt64 } from '../../../kube/go/int64.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import type { ObjectKey } from '../../../kube/resource.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { runMutatingRules, runValidatingRules } from '../admission/admission.ts';
import type { WriteAttempt } from '../admission/write-attempt.ts';
import {
  type FoundObject,
  findOrThrow,
  type RegistryContext,
  removeObject,
  storageKind,
  storeObject,
  timestamp,
} from '../context/registry-context.ts';
import { decodeObject, transientSnapshot } from '../context/snapshot-cache.ts';
import type { DeleteResult, DeletionRequest, WriteContext } from '../registry.ts';
import { checkDeletionRequest, dependentsFinalizers } from './deletion-policy.ts';

/**
 * DELETE. Three things can delay the removal of an object: finalizers, a grace period (pods), and a deletion in steps
 * (namespaces). Then the object is marked, and the component that delays it removes it later; otherwise this call removes it.
 */
export async function deleteObject(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
  request: DeletionRequest,
  write: WriteContext,
): Promise<DeleteResult> {
  warnOfOrphans(kind, request, write);
  const found = findOrThrow(context, kind, key);
  const old = found.snapshot.object;
  checkDeletionRequest(request);
  const check = kind.beginDeletion === undefined ? checkPreconditions : checkStepwisePreconditions;
  check(storageKind(context, kind), old, request);
  const attempt: WriteAttempt = { operation: 'DELETE', kind, object: old, old, write };
  runMutatingRules(context, attempt);
  runValidatingRules(context, attempt);
  const object = decodeObject(found.snapshot);
  if (kind.beginDeletion) return await deleteInSteps(context, kind, { found, object, request, write });

  const grace = applyGracePeriod(context, kind, object, request);
  if (grace === 'pending') return { kind: 'kept', snapshot: found.snapshot };
  const finalizers = dependentsFinalizers(kind, object, request);
  object.metadata.finalizers = finalizers.length === 0 ? undefined : [...finalizers];
  if (finalizers.length > 0) {
    if (grace === 'none') markDeleting(context, object);
    return { kind: 'kept', snapshot: await storeIfChanged(context, kind, found, object, write) };
  }
  if (grace === 'graceful' && (object.metadata.deletionGracePeriodSeconds ?? 0) > 0) {
    return { kind: 'kept', snapshot: await storeObject(context, kind, object, found.entry, write) };
  }
  return await finishDeletion(context, kind, { found, object, isMarked: grace === 'graceful', write });
}

/** Some kinds orphan their dependents by default, which few callers want. */
export function warnOfOrphans(
  kind: ServedKind,
  { propagationPolicy, orphanDependents }: DeletionRequest,
  write: WriteContext,
): void {
  const isChosen = propagationPolicy !== undefined || orphanDependents !== undefined;
  if (kind.orphanWarning !== undefined && !isChosen) write.warn(kind.orphanWarning);
}

interface Deletion {
  readonly found: FoundObject;
  readonly object: StoredObject;
  readonly write: WriteContext;
}

/** Kinds with a grace period are marked before the removal, even if it is 0: watchers see both writes. */
async function finishDeletion(
  context: RegistryContext,
  kind: ServedKind,
  { found, object, isMarked, write }: Deletion & { readonly isMarked: boolean },
): Promise<DeleteResult> {
  const last = isMarked ? object : found.snapshot.object;
  if (write.dryRun === true) return deletionResult(kind, last, found.entry.revision);
  let { entry } = found;
  if (isMarked) {
    // Both writes happen before anything awaits, so no other request can interleave.
    const marking = storeObject(context, kind, object, entry, write);
    entry = findOrThrow(context, kind, {
      namespace: object.metadata.namespace,
      name: object.metadata.name ?? '',
    }).entry;
    const [, revision] = await Promise.all([marking, removeObject(context, kind, object, entry, write)]);
    return deletionResult(kind, last, revision);
  }
  return deletionResult(kind, last, await removeObject(context, kind, last, entry, write));
}

/** The last state with the version of its removal, or a Status. */
function deletionResult(kind: ServedKind, last: StoredObject, revision: number): DeleteResult {
  if (kind.returnsDeletedObject === true) {
    const metadata = { ...last.metadata, resourceVersion: String(revision) };
    return { kind: 'removedObject', snapshot: transientSnapshot({ ...last, metadata }) };
  }
  const { name = '', uid = '' } = last.metadata;
  const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural, uid };
  return {
    kind: 'removed',
    status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details },
  };
}

/** A namespace is emptied before it is removed. */
async function deleteInSteps(
  context: RegistryContext,
  kind: ServedKind,
  { found, object, request, write }: Deletion & { readonly request: DeletionRequest },
): Promise<DeleteResult> {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = timestamp(context);
    const finalizers = dependentsFinalizers(kind, object, request);
    metadata.finalizers = finalizers.length === 0 ? undefined : [...finalizers];
    kind.beginDeletion?.(object);
    return { kind: 'kept', snapshot: await storeObject(context, kind, object, found.entry, write) };
  }
  if (kind.blocksRemoval?.(object) === true) return { kind: 'kept', snapshot: found.snapshot };
  if ((metadata.finalizers ?? []).length > 0) {
    markDeleting(context, object);
    return { kind: 'kept', snapshot: await storeIfChanged(context, kind, found, object, write) };
  }
  return await finishDeletion(context, kind, { found, object, isMarked: false, write });
}

/**
 * Applies the grace period. `none`: the kind has none, or it is over. `pending`: a deletion is in progress and this one
 * changes nothing. `graceful`: the object was marked with a grace period, which may be 0. A second deletion may only
 * shorten the period.
 */
function applyGracePeriod(
  context: RegistryContext,
  kind: ServedKind,
  object: StoredObject,
  request: DeletionRequest,
): 'none' | 'pending' | 'graceful' {
  if (kind.graceSeconds === undefined) return 'none';
  const { metadata } = object;
  const requested = request.gracePeriodSeconds;
  const asked = requested !== undefined && requested < 0 ? 1 : requested;
  if (metadata.deletionTimestamp === undefined) {
    const graceSeconds = kind.graceSeconds(object, asked);
    metadata.deletionTimestamp = timestamp(context, durationSeconds(graceSeconds));
    metadata.deletionGracePeriodSeconds = graceSeconds;
    if ((metadata.generation ?? 0) > 0) metadata.generation = nextInt64(metadata.generation ?? 0);
    return 'graceful';
  }
  const left = metadata.deletionGracePeriodSeconds ?? 0;
  if (left === 0) return 'none';
  if (asked === undefined || asked >= left) return 'pending';
  shortenGrace(context, object, asked);
  return 'graceful';
}

/** Moves the end forward, but never into the past. */
function shortenGrace(context: RegistryContext, { metadata }: StoredObject, grace: Int64): void {
  const graceSeconds = durationSeconds(grace);
  const begunMs =
    (parseTimestamp(metadata.deletionTimestamp) ?? 0) -
    durationSeconds(metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  const nowMs = context.clock.nowMs();
  const isOver = begunMs + graceSeconds * 1000 < nowMs;
  const restSeconds = isOver ? 0 : (begunMs + graceSeconds * 1000 - nowMs) / 1000;
  metadata.deletionTimestamp = timestamp(context, restSeconds);
  metadata.deletionGracePeriodSeconds = isOver && graceSeconds !== 0 ? 1 : grace;
}

/** A Go duration counts nanoseconds in 64 bits; a longer one wraps around. So a time far in the future is never out of range. */
function durationSeconds(seconds: Int64): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n)) / 1e9;
}

function markDeleting(context: RegistryContext, { metadata }: StoredObject): void {
  const nowMs = context.clock.nowMs();
  const before = parseTimestamp(metadata.deletionTimestamp);
  if (before === undefined && (metadata.generation ?? 0) > 0)
    metadata.generation = nextInt64(metadata.generation ?? 0);
  if (before === undefined || before > nowMs) metadata.deletionTimestamp = timestamp(context);
  metadata.deletionGracePeriodSeconds = 0;
}

/** A repeated deletion writes nothing. */
async function storeIfChanged(
  context: RegistryContext,
  kind: ServedKind,
  found: FoundObject,
  object: StoredObject,
  write: WriteContext,
) {
  const { metadata } = found.snapshot.object;
  const isSame =
    metadata.deletionTimestamp === object.metadata.deletionTimestamp &&
    metadata.deletionGracePeriodSeconds === object.metadata.deletionGracePeriodSeconds &&
    String(metadata.finalizers) === String(object.metadata.finalizers);
  if (!isSame) return await storeObject(context, kind, object, found.entry, write);
  await context.store.whenDurable(found.entry.revision);
  return found.snapshot;
}

/** Kubernetes uses the kind here, where other messages have the plural. */
export function checkPreconditions(
  kind: ServedKind,
  { metadata }: StoredObject,
  { preconditions }: Pick<DeletionRequest, 'preconditions'>,
): void {
  const { name = '', uid, resourceVersion } = metadata;
  const resource = { group: kind.group, plural: kind.kind };
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      resource,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      resource,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** Kubernetes has other messages for kinds that are deleted in steps. */
function checkStepwisePreconditions(
  kind: ServedKind,
  { metadata: { name = '', uid, resourceVersion } }: StoredObject,
  { preconditions }: DeletionRequest,
): void {
  const facts = [
    ['UID', preconditions?.uid, uid],
    ['ResourceVersion', preconditions?.resourceVersion, resourceVersion],
  ] as const;
  for (const [what, wanted, found] of facts) {
    if (wanted === undefined || wanted === found) continue;
    const mismatch = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
    throw conflict(kind, name, mismatch);
  }
}

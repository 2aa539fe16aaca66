import {
  type ApiError,
  alreadyExists,
  badRequest,
  failure,
  forbidden,
  invalid,
  ApiError as StatusError,
} from '../../../kube/api-error.ts';
import { type ObjectKey, qualifiedPlural } from '../../../kube/resource.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { parseApiVersion } from '../../schema/group-version-kind.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { checkObjectMeta } from '../../validation/object-meta.ts';
import { runMutatingRules, runValidatingRules } from '../admission/admission.ts';
import type { WriteAttempt } from '../admission/write-attempt.ts';
import {
  findObject,
  type RegistryContext,
  storageKind,
  storeObject,
  timestamp,
} from '../context/registry-context.ts';
import type { ObjectSnapshot, UpdateContext, WriteContext } from '../registry.ts';
import { allocate } from './allocation.ts';
import { recordFieldOwners } from './field-owners.ts';
import { dropDuplicateOwners } from './owner-references.ts';
import { storageConflict } from './storage-conflict.ts';

/** Kubernetes tries this many names before it fails. */
const generatedNamesMax = 8;

export async function createObject(
  context: RegistryContext,
  kind: ServedKind,
  namespace: string | undefined,
  object: StoredObject,
  write: WriteContext,
): Promise<ObjectSnapshot> {
  clearSystemFields(object);
  prepareAndValidate(context, kind, namespace, object, write);
  if (hasResourceVersion(object) && write.dryRun !== true) {
    throw failure(500, undefined, 'resourceVersion should not be set on objects to be created');
  }
  const taken = findObject(context, kind, keyOf(object));
  if (taken !== undefined) throw nameTakenError(kind, object, taken.snapshot.object);
  return await storeObject(context, kind, object, undefined, write);
}

/** Kubernetes' storage treats a version that is not a number as none. */
function hasResourceVersion({ metadata: { resourceVersion = '' } }: StoredObject): boolean {
  return /^\d+$/.test(resourceVersion) && !/^0+$/.test(resourceVersion);
}

/**
 * PUT of a missing object. Its version is that of a deleted object and is ignored. System fields are not cleared: an
 * object written with a deletionTimestamp is stored with it.
 */
export async function createThroughUpdate(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
  object: StoredObject,
  write: UpdateContext,
): Promise<ObjectSnapshot> {
  const { uid = '' } = object.metadata;
  if (uid !== '') throw storageConflict(kind, key, { uid, found: '', isDryRun: write.dryRun === true });
  checkVersionSyntax(object);
  prepareAndValidate(context, kind, key.namespace, object, write);
  return await storeObject(context, kind, object, undefined, write);
}

export function checkVersionSyntax({ metadata: { resourceVersion = '' } }: StoredObject): void {
  if (/^\d*$/.test(resourceVersion)) return;
  const quoted = JSON.stringify(resourceVersion);
  throw failure(500, undefined, `strconv.ParseUint: parsing ${quoted}: invalid syntax`);
}

/** Everything before a new object is stored; throws if the object is invalid. */
function prepareAndValidate(
  context: RegistryContext,
  kind: ServedKind,
  namespace: string | undefined,
  object: StoredObject,
  write: UpdateContext,
): void {
  if (kind.definition?.refusesCreation() === true) throw definitionTerminating(kind, object);
  setNamespace(kind, object, namespace);
  dropDuplicateOwners(object, write);
  kind.defaults?.(object);
  recordFieldOwners(context, { kind, object, old: undefined, write });
  const attempt: WriteAttempt = { operation: 'CREATE', kind, object, old: undefined, write };
  runMutatingRules(context, attempt);
  fillSystemFields(context, kind, object);
  kind.prepareCreate?.(object, { nowMs: context.clock.nowMs() });
  // A service created by writing its status gets no address, as in Kubernetes.
  if (write.subresource === undefined) allocate(context, kind, object);
  validateNew(storageKind(context, kind), kind, object);
  for (const warning of kind.warnings?.(object, undefined) ?? []) write.warn(warning);
  runValidatingRules(context, attempt);
}

function definitionTerminating(kind: ServedKind, { metadata }: StoredObject): ApiError {
  return forbidden(
    kind,
    metadata.name ?? '',
    'create not allowed while custom resource definition is terminating',
  );
}

/** Sets the request's namespace; refuses an object that names another. */
export function setNamespace(kind: ServedKind, object: StoredObject, namespace: string | undefined): void {
  const { metadata } = object;
  if (!kind.namespaced) {
    delete metadata.namespace;
  } else if ((metadata.namespace ?? '') === '') {
    metadata.namespace = namespace;
  } else if (metadata.namespace !== namespace) {
    throw namespaceMismatch();
  }
}

export function namespaceMismatch(): ApiError {
  return badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

function clearSystemFields({ metadata }: StoredObject): void {
  delete metadata.creationTimestamp;
  delete metadata.uid;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
}

function fillSystemFields(context: RegistryContext, kind: ServedKind, object: StoredObject): void {
  const { metadata } = object;
  metadata.uid = context.ids.uid();
  metadata.creationTimestamp = timestamp(context);
  if (kind.hasGeneration) metadata.generation = 1;
  const prefix = metadata.generateName ?? '';
  if ((metadata.name ?? '') !== '' || prefix === '') return;
  for (let attempt = 0; attempt < generatedNamesMax; attempt++) {
    metadata.name = generatedName(prefix, context.ids.suffix());
    if (findObject(context, kind, keyOf(object)) === undefined) return;
  }
}

const nameLengthMax = 63;
const suffixLength = 5;

/** Truncates long prefixes so that the name is still a valid label (apiserver's names.SimpleNameGenerator). */
function generatedName(prefix: string, suffix: string): string {
  return prefix.slice(0, nameLengthMax - suffixLength) + suffix;
}

/** Errors name the kind that owns the storage. */
function validateNew(owner: ServedKind, kind: ServedKind, object: StoredObject): void {
  const errors = new FieldErrors();
  checkObjectMeta(errors, object.metadata, kind);
  kind.validate(object, errors);
  if (!errors.isEmpty) throw invalid(reportedKind(owner, object), object.metadata.name ?? '', errors.causes);
}

/** The kind in error messages: for a custom resource, the kind and group in the object itself, even if wrong. */
export function reportedKind(
  owner: ServedKind,
  { kind, apiVersion }: StoredObject,
): Pick<ServedKind, 'group' | 'kind'> {
  if (owner.definition === undefined) return owner;
  return { kind, group: parseApiVersion(apiVersion)?.group ?? '' };
}

function nameTakenError(kind: ServedKind, object: StoredObject, taken: StoredObject): ApiError {
  const name = object.metadata.name ?? '';
  if ((object.metadata.generateName ?? '') !== '') {
    const message = `${qualifiedPlural(kind)} ${JSON.stringify(name)} already exists, the server was not able to generate a unique name for the object`;
    const { group, plural } = kind;
    const details = { name, ...(group === '' ? {} : { group }), kind: plural, retryAfterSeconds: 1 };
    return failure(409, 'AlreadyExists', message, details);
  }
  const error = alreadyExists(kind, name);
  if (taken.metadata.deletionTimestamp === undefined) return error;
  return new StatusError({ ...error.status, message: `object is being deleted: ${error.message}` });
}

function keyOf({ metadata }: StoredObject) {
  return { namespace: metadata.namespace, name: metadata.name ?? '' };
}

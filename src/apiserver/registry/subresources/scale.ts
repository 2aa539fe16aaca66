import type { Scale } from '../../../kube/api/stored/autoscaling.ts';
import {
  badRequest,
  conflict,
  internalError,
  invalid,
  methodNotAllowed,
  notFound,
} from '../../../kube/api-error.ts';
import { apiVersionOf, type ObjectKey } from '../../../kube/resource.ts';
import { ownersAfterScale, ownersOfScale, type ScalableOwners } from '../../apply/scale-owners.ts';
import { checkScale } from '../../kinds/autoscaling/scale.ts';
import type { ScaleRule, ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { type FoundObject, findObject, type RegistryContext } from '../context/registry-context.ts';
import { decodeObject, transientSnapshot } from '../context/snapshot-cache.ts';
import type { ObjectSnapshot, RequestedPatch, UpdateContext, WriteResult } from '../registry.ts';
import { applyRequestedPatch } from '../writes/apply.ts';
import { applyPlainPatch, isPlainPatch } from '../writes/patch.ts';
import { storageConflict } from '../writes/storage-conflict.ts';
import { outdatedMessage, replaceObject } from '../writes/update.ts';

/** /scale: the wanted and current replicas of any scalable kind, as a Scale object. */
export async function getScale(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
): Promise<ObjectSnapshot> {
  const found = findScalable(context, kind, key);
  await context.store.whenDurable(found.entry.revision);
  const scale = scaleOf(kind, found.snapshot.object);
  if (scale.spec.replicas === unsetReplicas) throw internalError(`${replicasField(kind)} does not exist`);
  return transientSnapshot(scale);
}

export async function updateScale(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
  body: StoredObject,
  write: UpdateContext,
): Promise<WriteResult> {
  const found = findScalable(context, kind, key);
  return await writeScale(context, kind, { found, scale: body as Scale, write });
}

export async function patchScale(
  context: RegistryContext,
  kind: ServedKind,
  key: ObjectKey,
  patch: RequestedPatch,
  write: UpdateContext,
): Promise<WriteResult> {
  const found = findScalable(context, kind, key);
  if (!isPlainPatch(patch)) return await applyScale(context, kind, { found, patch, write });
  const scale = applyPlainPatch(scaleType, scaleOf(kind, found.snapshot.object), patch, write) as Scale;
  return await writeScale(context, kind, { found, scale, write });
}

const scaleType = { group: 'autoscaling', version: 'v1', kind: 'Scale', type: 'autoscaling/v1.Scale' };

function findScalable(context: RegistryContext, kind: ServedKind, key: ObjectKey): FoundObject {
  if (kind.scale === undefined) throw methodNotAllowed(kind, 'scale');
  const found = findObject(context, kind, key);
  if (found === undefined) throw notFound(kind, key.name);
  return found;
}

interface ScaleApplication {
  readonly found: FoundObject;
  readonly patch: RequestedPatch;
  readonly write: UpdateContext;
}

/** A Scale has no field owners of its own: they are the owners of the scaled object's replicas field. */
async function applyScale(
  context: RegistryContext,
  kind: ServedKind,
  { found, patch, write }: ScaleApplication,
): Promise<WriteResult> {
  const scaled = found.snapshot.object;
  const before = scaledOwners(kind, scaled);
  const live = scaleOf(kind, scaled);
  live.metadata.managedFields = ownersOfScale(before) as typeof live.metadata.managedFields;
  const request = { expected: scaleType, live, patch, write, hasStatus: true };
  const { metadata, ...scale } = applyRequestedPatch(context, request) as Scale;
  const { managedFields: after, ...identity } = metadata;
  return await writeScale(context, kind, {
    found,
    scale: { ...scale, metadata: identity },
    write: { ...write, hasFieldOwners: true },
    owners: ownersAfterScale(before, after as Owners),
  });
}

type Owners = ScalableOwners['owners'];

interface Scaling {
  readonly found: FoundObject;
  readonly scale: Scale;
  readonly write: UpdateContext;
  /** Set if they are known already. */
  readonly owners?: Owners;
}

async function writeScale(
  context: RegistryContext,
  kind: ServedKind,
  { found, scale, write, owners }: Scaling,
): Promise<WriteResult> {
  const old = found.snapshot.object;
  checkIdentity(kind, scale, old, write);
  const wanted = scale.spec?.replicas ?? 0;
  // The schema of a custom resource validates its replicas field.
  if (kind.definition === undefined) validateScale(scale);
  else if (wanted === unsetReplicas) throw badRequest(`${replicasField(kind)} cannot be empty`);
  const object = decodeObject(found.snapshot);
  scaleRuleOf(kind).write(object, wanted);
  if (owners !== undefined) object.metadata.managedFields = owners as typeof object.metadata.managedFields;
  const { snapshot } = await replaceObject(context, kind, { found, object, write });
  return { snapshot: transientSnapshot(scaleOf(kind, snapshot.object)), created: false };
}

function scaledOwners(kind: ServedKind, { metadata }: StoredObject): ScalableOwners {
  const { replicasPath = defaultPath } = scaleRuleOf(kind);
  return { owners: metadata.managedFields as Owners, apiVersion: apiVersionOf(kind), replicasPath };
}

const defaultPath = '.spec.replicas';

/** Marks a Scale whose object does not set the replicas. */
const unsetReplicas = -(2 ** 31);

function replicasField(kind: ServedKind): string {
  return `the spec replicas field ${JSON.stringify(scaleRuleOf(kind).replicasPath ?? defaultPath)}`;
}

function validateScale(scale: Scale): void {
  const errors = new FieldErrors();
  checkScale(scale, errors);
  if (errors.isEmpty) return;
  throw invalid({ group: 'autoscaling', kind: 'Scale' }, scale.metadata.name ?? '', errors.causes);
}

function checkIdentity(
  kind: ServedKind,
  { metadata }: Scale,
  old: StoredObject,
  { dryRun }: UpdateContext,
): void {
  const { name = '', uid = '', resourceVersion = '' } = metadata;
  if (name !== '' && name !== old.metadata.name) {
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${old.metadata.name})`,
    );
  }
  if (uid !== '' && uid !== old.metadata.uid) {
    const key = { namespace: old.metadata.namespace, name: old.metadata.name ?? '' };
    throw storageConflict(kind, key, { uid, found: old.metadata.uid ?? '', isDryRun: dryRun === true });
  }
  const isOld = resourceVersion !== '' && resourceVersion !== old.metadata.resourceVersion;
  if (isOld) throw conflict(kind, old.metadata.name ?? '', outdatedMessage);
}

function scaleOf(kind: ServedKind, object: StoredObject): Scale {
  const { desired: wanted = unsetReplicas, current: running, selector } = scaleRuleOf(kind).read(object);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: wanted === 0 ? {} : { replicas: wanted },
    status: { replicas: running, ...(selector === '' ? {} : { selector }) },
  };
}

function scaleRuleOf(kind: ServedKind): ScaleRule<StoredObject> {
  if (kind.scale === undefined) throw methodNotAllowed(kind, 'scale');
  return kind.scale;
}

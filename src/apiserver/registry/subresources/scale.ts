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
import { ownersOfScale, ownersOfScaled, type Scaled } from '../../apply/scale-owners.ts';
import { checkScale } from '../../kinds/autoscaling/scale.ts';
import type { Kind, ScaleRule, StoredObject } from '../../kinds/served-kind.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { type Found, find, type RegistryContext } from '../context/context.ts';
import { decodeObject, transientSnapshot } from '../context/snapshot.ts';
import type { RequestedPatch, Snapshot, UpdateContext, Written } from '../registry.ts';
import { applied } from '../writes/apply.ts';
import { isPlainPatch, patched } from '../writes/patch.ts';
import { storageConflict } from '../writes/storage-conflict.ts';
import { outdated, replace } from '../writes/update.ts';

/** /scale: how many there are and should be, of any kind that has replicas, as one and the same small object. */
export async function getScale(context: RegistryContext, kind: Kind, key: ObjectKey): Promise<Snapshot> {
  const found = findScalable(context, kind, key);
  await context.store.whenDurable(found.entry.revision);
  const scale = scaleOf(kind, found.snapshot.object);
  if (scale.spec.replicas === unsetReplicas) throw internalError(`${replicasField(kind)} does not exist`);
  return transientSnapshot(scale);
}

export async function updateScale(
  context: RegistryContext,
  kind: Kind,
  key: ObjectKey,
  body: StoredObject,
  write: UpdateContext,
): Promise<Written> {
  const found = findScalable(context, kind, key);
  return await writeScale(context, kind, { found, scale: body as Scale, write });
}

export async function patchScale(
  context: RegistryContext,
  kind: Kind,
  key: ObjectKey,
  patch: RequestedPatch,
  write: UpdateContext,
): Promise<Written> {
  const found = findScalable(context, kind, key);
  if (!isPlainPatch(patch)) return await applyScale(context, kind, { found, patch, write });
  const scale = patched(scaleType, scaleOf(kind, found.snapshot.object), patch, write) as Scale;
  return await writeScale(context, kind, { found, scale, write });
}

const scaleType = { group: 'autoscaling', version: 'v1', kind: 'Scale', type: 'autoscaling/v1.Scale' };

function findScalable(context: RegistryContext, kind: Kind, key: ObjectKey): Found {
  if (kind.scale === undefined) throw methodNotAllowed(kind, 'scale');
  const found = find(context, kind, key);
  if (found === undefined) throw notFound(kind, key.name);
  return found;
}

interface ScaleApplication {
  readonly found: Found;
  readonly patch: RequestedPatch;
  readonly write: UpdateContext;
}

/** A Scale has no owners of its own: they are those of what is scaled, as far as replicas are concerned. */
async function applyScale(
  context: RegistryContext,
  kind: Kind,
  { found, patch, write }: ScaleApplication,
): Promise<Written> {
  const scaled = found.snapshot.object;
  const before = scaledBy(kind, scaled);
  const live = scaleOf(kind, scaled);
  live.metadata.managedFields = ownersOfScale(before) as typeof live.metadata.managedFields;
  const request = { expected: scaleType, live, patch, write, hasStatus: true };
  const { metadata, ...scale } = applied(context, request) as Scale;
  const { managedFields: after, ...identity } = metadata;
  return await writeScale(context, kind, {
    found,
    scale: { ...scale, metadata: identity },
    write: { ...write, ownersAreSet: true },
    owners: ownersOfScaled(before, after as Owners),
  });
}

type Owners = Scaled['owners'];

interface Scaling {
  readonly found: Found;
  readonly scale: Scale;
  readonly write: UpdateContext;
  /** Where they are known already. */
  readonly owners?: Owners;
}

async function writeScale(
  context: RegistryContext,
  kind: Kind,
  { found, scale, write, owners }: Scaling,
): Promise<Written> {
  const old = found.snapshot.object;
  checkIdentity(kind, scale, old, write);
  const wanted = scale.spec?.replicas ?? 0;
  // Custom resources have rules of their own for what they scale by.
  if (kind.definition === undefined) refuseWrongScale(scale);
  else if (wanted === unsetReplicas) throw badRequest(`${replicasField(kind)} cannot be empty`);
  const object = decodeObject(found.snapshot);
  ruleOf(kind).write(object, wanted);
  if (owners !== undefined) object.metadata.managedFields = owners as typeof object.metadata.managedFields;
  const { snapshot } = await replace(context, kind, { found, object, write });
  return { snapshot: transientSnapshot(scaleOf(kind, snapshot.object)), created: false };
}

function scaledBy(kind: Kind, { metadata }: StoredObject): Scaled {
  const { replicasPath = defaultPath } = ruleOf(kind);
  return { owners: metadata.managedFields as Owners, apiVersion: apiVersionOf(kind), replicasPath };
}

const defaultPath = '.spec.replicas';

/** What stands in a Scale, where writers see it, of an object that does not say how many are wanted. */
const unsetReplicas = -(2 ** 31);

function replicasField(kind: Kind): string {
  return `the spec replicas field ${JSON.stringify(ruleOf(kind).replicasPath ?? defaultPath)}`;
}

function refuseWrongScale(scale: Scale): void {
  const errors = new FieldErrors();
  checkScale(scale, errors);
  if (errors.isEmpty) return;
  throw invalid({ group: 'autoscaling', kind: 'Scale' }, scale.metadata.name ?? '', errors.causes);
}

function checkIdentity(kind: Kind, { metadata }: Scale, old: StoredObject, { dryRun }: UpdateContext): void {
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
  if (isOld) throw conflict(kind, old.metadata.name ?? '', outdated);
}

function scaleOf(kind: Kind, object: StoredObject): Scale {
  const { wanted = unsetReplicas, running, selector } = ruleOf(kind).read(object);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: wanted === 0 ? {} : { replicas: wanted },
    status: { replicas: running, ...(selector === '' ? {} : { selector }) },
  };
}

function ruleOf(kind: Kind): ScaleRule<StoredObject> {
  if (kind.scale === undefined) throw methodNotAllowed(kind, 'scale');
  return kind.scale;
}

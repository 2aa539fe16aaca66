import type { CustomResourceDefinition } from '../../kube/api/stored/apiextensions.ts';
import { notFound } from '../../kube/api-error.ts';
import { isSemanticallyEqual } from '../../kube/deep-equal.ts';
import { customResourceDefinitionKind } from '../kinds/apiextensions/custom-resource-definition.ts';
import { anyKind, type StoredObject } from '../kinds/served-kind.ts';
import { canonicalObject } from '../registry/canonical-object.ts';
import type { Registry, UpdateContext } from '../registry/registry.ts';

const kind = anyKind(customResourceDefinitionKind);
const write: UpdateContext = { manager: 'stowage', user: 'system:apiserver', warn: () => {} };

/**
 * Makes the definitions what they are in this version of the program, and the objects that older ones have left behind objects of the
 * versions that are there now. Everything is found out from what is stored, so it may end anywhere and run at every start.
 *
 * Objects are stored without their version and shown as the storage version has them today, so nothing has to be rewritten when
 * that changes: the list of versions in which objects may be stored is all that has to follow.
 */
export async function installDefinitions(
  registry: Registry,
  definitions: readonly CustomResourceDefinition[],
): Promise<void> {
  for (const definition of definitions) await install(registry, definition);
}

async function install(registry: Registry, wanted: CustomResourceDefinition): Promise<void> {
  const key = { name: wanted.metadata.name ?? '' };
  const old = await findDefinition(registry, key.name);
  if (old !== undefined && isInstalled(old, wanted)) return;
  if (old !== undefined && retiredVersions(old, wanted).length > 0)
    await keepRetiredVersions(registry, old, wanted);
  const patch = { type: 'apply', body: wanted, fieldValidation: 'Strict', force: true } as const;
  await registry.patch(kind, key, patch, write);
  await dropOldStoredVersions(registry, key.name);
}

/** Applying would change nothing, and takes its time. */
function isInstalled(old: CustomResourceDefinition, wanted: CustomResourceDefinition): boolean {
  const object = canonicalObject(kind, wanted);
  kind.defaults?.(object);
  const { spec } = object as unknown as CustomResourceDefinition;
  return isSemanticallyEqual(old.spec, spec) && old.status.storedVersions?.length === 1;
}

/** Versions in which objects may be stored and that are no longer there. */
function retiredVersions(old: CustomResourceDefinition, wanted: CustomResourceDefinition) {
  const left = new Set(wanted.spec.versions?.map(({ name }) => name));
  const stored = new Set(old.status.storedVersions);
  return (old.spec.versions ?? []).filter(({ name }) => stored.has(name) && !left.has(name));
}

/** A version can only go when nothing is stored in it, so for a moment it is there beside the new ones. */
async function keepRetiredVersions(
  registry: Registry,
  old: CustomResourceDefinition,
  wanted: CustomResourceDefinition,
): Promise<void> {
  const leaving = retiredVersions(old, wanted).map((version) => ({
    ...version,
    served: false,
    storage: false,
  }));
  const versions = [...(wanted.spec.versions ?? []), ...leaving];
  const between = { ...structuredClone(old), spec: { ...structuredClone(wanted.spec), versions } };
  const key = { name: old.metadata.name ?? '' };
  await registry.update(kind, key, between as unknown as StoredObject, write);
  await dropOldStoredVersions(registry, key.name);
}

async function dropOldStoredVersions(registry: Registry, name: string): Promise<void> {
  const definition = await findDefinition(registry, name);
  if (definition === undefined) throw notFound(kind, name);
  const storage = definition.spec.versions?.find((version) => version.storage)?.name ?? '';
  const { storedVersions } = definition.status;
  if (storedVersions?.length === 1 && storedVersions[0] === storage) return;
  // Without a version: what is said about its names meanwhile is another part of the status.
  const body = { status: { storedVersions: [storage] } };
  const patch = { type: 'merge', body, fieldValidation: 'Strict' } as const;
  await registry.patch(kind, { name }, patch, { ...write, subresource: 'status' });
}

async function findDefinition(
  registry: Registry,
  name: string,
): Promise<CustomResourceDefinition | undefined> {
  const { items } = await registry.list(kind, { fieldSelector: `metadata.name=${name}` });
  return items[0]?.object as CustomResourceDefinition | undefined;
}

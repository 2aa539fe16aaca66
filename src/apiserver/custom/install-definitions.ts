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
 * Installs the program's own definitions in their current version and migrates definitions left by older versions. It
 * decides from stored state alone, so it may stop anywhere and runs at every start.
 *
 * Objects are stored without their version and converted to the current storage version when read. A change of versions
 * therefore rewrites no objects; only `storedVersions` must be updated.
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

/** Skips the apply, which is slow, if it would change nothing. */
function isInstalled(old: CustomResourceDefinition, wanted: CustomResourceDefinition): boolean {
  const object = canonicalObject(kind, wanted);
  kind.defaults?.(object);
  const { spec } = object as unknown as CustomResourceDefinition;
  return isSemanticallyEqual(old.spec, spec) && old.status.storedVersions?.length === 1;
}

/** Removed versions in which objects may still be stored. */
function retiredVersions(old: CustomResourceDefinition, wanted: CustomResourceDefinition) {
  const left = new Set(wanted.spec.versions?.map(({ name }) => name));
  const stored = new Set(old.status.storedVersions);
  return (old.spec.versions ?? []).filter(({ name }) => stored.has(name) && !left.has(name));
}

/** A version can be removed only when nothing is stored in it, so it first stays as an unserved version beside the new ones. */
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
  // Written without a resource version: the controller may concurrently write other parts of the status.
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

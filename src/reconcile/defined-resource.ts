import type { CustomResourceDefinition } from '../kube/api/apiextensions.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import type { Resource } from '../kube/resource.ts';

/** A resource that a CustomResourceDefinition defines, and all versions in which its objects may appear. */
export interface DefinedResource {
  readonly resource: Resource;
  readonly versions: readonly string[];
}

/**
 * The resource of a definition. It keeps the version that the cache has used so far while that version is served, because the objects
 * are the same in all versions. Undefined if the resource is not served, or not served yet.
 */
export function definedResource(
  { spec, status }: CustomResourceDefinition,
  countedVersion: string | undefined,
): DefinedResource | undefined {
  const { group = '', scope, names = {}, versions = [] } = spec ?? {};
  const isEstablished = status?.conditions?.some(
    (each) => each.type === 'Established' && each.status === 'True',
  );
  const served = versions.filter((each) => each.served === true);
  const isCounted = served.some(({ name }) => name === countedVersion);
  const stored = served.find(({ storage }) => storage === true) ?? served[0];
  const version = isCounted ? countedVersion : stored?.name;
  const { kind = '', plural = '' } = names;
  if (!isEstablished || version === undefined) return undefined;
  return {
    resource: { group, version, kind, plural, namespaced: scope === 'Namespaced' },
    versions: served.map(({ name = '' }) => name),
  };
}

/** The part of a definition that says what it defines. Schemas may be large and are left out. */
export function definitionEssentials(object: KubeObject): KubeObject {
  const { spec, status } = object as CustomResourceDefinition;
  const { group, scope, names, versions = [] } = spec ?? {};
  const projected = {
    spec: {
      group,
      scope,
      names: { kind: names?.kind, plural: names?.plural },
      versions: versions.map(({ name, served, storage }) => ({ name, served, storage })),
    },
    status: { conditions: status?.conditions?.map(({ type, status: is }) => ({ type, status: is })) },
  };
  return projected as unknown as KubeObject;
}

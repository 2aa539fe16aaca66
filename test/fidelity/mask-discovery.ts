import { isServed, isServedGroup, servedVersions } from './served.ts';

type Json = Readonly<Record<string, unknown>>;

/** Turns the lists of a discovery document into objects by name, reduced to the kinds that should be served. */
export function discoveryByName(document: unknown): unknown {
  const { kind } = document as Json;
  switch (kind) {
    case 'APIResourceList':
      return resourceList(document as Json);
    case 'APIGroupList':
      return { kind, order: names(document as Json), groups: groups((document as Json).groups as Json[]) };
    case 'APIGroup':
      return groups([document as Json]);
    case 'APIGroupDiscoveryList':
      return aggregated(document as Json);
    case undefined:
      return openapiIndex(document as Json);
    case 'APIVersions':
      return { kind, versions: (document as Json).versions };
    default:
      return document;
  }
}

function resourceList({ resources, ...rest }: Json): unknown {
  const served = (resources as readonly Json[]).filter(({ name }) =>
    isServed(rest.groupVersion as string, name as string),
  );
  return { ...rest, resources: Object.fromEntries(served.map(({ name, ...facts }) => [name, facts])) };
}

function names({ groups: all }: Json): readonly unknown[] {
  return (all as readonly Json[]).map(({ name }) => name).filter((name) => isServedGroup(name as string));
}

/** Other versions of a group are not served. */
function groups(all: readonly Json[]): unknown {
  const served = all.filter(({ name }) => isServedGroup(name as string));
  const facts = served.map(({ name, versions, ...rest }) => {
    const kept = (versions as readonly Json[]).filter(({ groupVersion }) =>
      servedVersions.includes(groupVersion as string),
    );
    return [name, { ...rest, versions: kept }];
  });
  return Object.fromEntries(facts);
}

function aggregated({ items, ...rest }: Json): unknown {
  const kept = (items as readonly Json[]).flatMap(({ metadata, versions }) => {
    const group = ((metadata as Json).name as string | undefined) ?? '';
    return (versions as readonly Json[]).flatMap(({ version, resources, ...facts }) => {
      const apiVersion = group === '' ? (version as string) : `${group}/${version}`;
      if (!servedVersions.includes(apiVersion)) return [];
      return [[apiVersion, { ...facts, resources: aggregatedResources(apiVersion, resources as Json[]) }]];
    });
  });
  return { ...rest, items: Object.fromEntries(kept) };
}

function aggregatedResources(apiVersion: string, resources: readonly Json[]): unknown {
  const served = resources.filter(({ resource }) => isServed(apiVersion, resource as string));
  const facts = served.map(({ resource, subresources, ...rest }) => {
    const parts = ((subresources as readonly Json[] | undefined) ?? []).map(({ subresource, ...part }) => [
      subresource,
      part,
    ]);
    return [resource, { ...rest, subresources: Object.fromEntries(parts) }];
  });
  return Object.fromEntries(facts);
}

/** The path of each OpenAPI document. The hash in it depends on the document's content, so it is removed. */
function openapiIndex({ paths }: Json): unknown {
  const served = Object.entries(paths as Record<string, { readonly serverRelativeURL: string }>)
    .filter(([path]) =>
      servedVersions.some((version) => path === `apis/${version}` || path === `api/${version}`),
    )
    .map(([path, { serverRelativeURL }]) => [
      path,
      serverRelativeURL.replace(/hash=[0-9A-F]+$/, 'hash=<hash>'),
    ]);
  return { paths: Object.fromEntries(served) };
}

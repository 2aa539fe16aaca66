import { createHash } from 'node:crypto';
import { apiVersionOf } from '../../../kube/resource.ts';
import type { RequestVerb, ServedKind } from '../../kinds/served-kind.ts';
import { compareVersionPriority } from '../../schema/version-priority.ts';
import { type ReviewKind, reviewKinds } from '../routing/review-kinds.ts';
import { metricsGroup, metricsResources } from '../routing/simulated-metrics.ts';
import { resourceVerbs, subresourceVerbs } from '../routing/verbs.ts';

/** A served API group with its versions and their resources, as clients discover it. */
export interface ServedGroup {
  /** Empty for the core group. */
  readonly name: string;
  readonly versions: readonly ServedVersion[];
}

export interface ServedVersion {
  readonly version: string;
  readonly resources: readonly ServedResource[];
}

export interface ServedResource {
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly RequestVerb[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Undefined for kinds that are never stored. */
  readonly storageVersionHash?: string;
  readonly subresources: readonly ServedSubresource[];
}

export interface ServedSubresource {
  readonly name: string;
  readonly kind: string;
  /** Set when the body's group differs from the resource's. */
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly verbs: readonly RequestVerb[];
}

/** The order in which kube-apiserver lists its groups; clients resolve short names in this order. */
const groupOrder = [
  '',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
];

export function servedGroups(kinds: readonly ServedKind[]): readonly ServedGroup[] {
  const resources = [...kinds.map(servedKind), ...reviewKinds.map(servedReview)];
  const byGroup = grouped(resources, ({ group }) => group);
  const names = new Set([...byGroup.keys(), metricsGroup.group]);
  return [...names].sort(byGroupOrder).map((name) => {
    if (!byGroup.has(name)) return { name, versions: [servedMetrics] };
    const members = byGroup.get(name) ?? [];
    const byVersion = grouped(members, ({ version }) => version);
    const versions = [...byVersion.keys()].sort(compareVersionPriority);
    return {
      name,
      versions: versions.map((version) => servedVersion(version, byVersion.get(version) ?? [])),
    };
  });
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const same = found.get(keyOf(item)) ?? [];
    same.push(item);
    found.set(keyOf(item), same);
  }
  return found;
}

/** The plain document of `/api`. Clients inside kube-apiserver's network would use `serverAddress`. */
export function coreVersionsBody(groups: readonly ServedGroup[], serverAddress: string): object {
  const core = groups.find(({ name }) => name === '');
  return {
    kind: 'APIVersions',
    versions: core?.versions.map(({ version }) => version) ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

export function groupListBody(groups: readonly ServedGroup[]): object {
  const named = groups.filter(({ name }) => name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(describeGroup) };
}

export function groupBody(group: ServedGroup): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) };
}

export function resourceListBody(apiVersion: string, { resources }: ServedVersion): object {
  const all = resources.flatMap((resource) => [
    describeResource(resource),
    ...describeSubresources(resource),
  ]);
  // kube-apiserver omits apiVersion in the list of the core group.
  const head = apiVersion.includes('/') ? { apiVersion: 'v1' } : {};
  return { kind: 'APIResourceList', ...head, groupVersion: apiVersion, resources: all };
}

interface Grouped extends ServedResource {
  readonly group: string;
  readonly version: string;
}

function servedKind(kind: ServedKind): Grouped {
  const { group, version, plural, singular, namespaced, shortNames = [], categories = [] } = kind;
  const names = [
    ...(kind.hasStatus ? ['status'] : []),
    ...(kind.scale === undefined ? [] : ['scale']),
    ...(kind.subresources ?? []).map(({ name }) => name),
  ];
  return {
    group,
    version,
    name: plural,
    singular,
    kind: kind.kind,
    namespaced,
    verbs: resourceVerbs(kind),
    shortNames,
    categories,
    storageVersionHash: storageHash(kind),
    subresources: sortedSubresources(kind, names).map((name) => servedSubresource(kind, name)),
  };
}

/** Sorted by name; for custom resources in reverse, so that the status comes first. */
function sortedSubresources({ definition }: ServedKind, names: readonly string[]): readonly string[] {
  const sorted = [...new Set(names)].sort();
  return definition === undefined ? sorted : sorted.reverse();
}

/** Identifies the version that objects are stored in, so that clients notice a change. */
function storageHash({ group, version, kind, storedAs }: ServedKind): string {
  const owner = storedAs ?? { group, kind };
  const digest = createHash('sha256').update(`${owner.group}/${version}/${owner.kind}`).digest();
  return digest.subarray(0, 8).toString('base64');
}

function servedSubresource(kind: ServedKind, name: string): ServedSubresource {
  const verbs = [...subresourceVerbs(kind, name)].sort();
  if (name === 'status') return { name, kind: kind.kind, verbs };
  if (name === 'scale') return { name, kind: 'Scale', group: 'autoscaling', version: 'v1', verbs };
  const described = kind.subresources?.find((subresource) => subresource.name === name);
  const isOfOther = described?.group !== undefined && described.group !== kind.group;
  const other = isOfOther ? { group: described.group, version: described.version ?? 'v1' } : {};
  return { name, kind: described?.kind ?? kind.kind, ...other, verbs };
}

function servedReview({ group, version, kind, plural, singular, namespaced }: ReviewKind): Grouped {
  const facts = { group, version, kind, name: plural, singular, namespaced };
  return { ...facts, verbs: ['create'], shortNames: [], categories: [], subresources: [] };
}

const servedMetrics: ServedVersion = {
  version: metricsGroup.version,
  resources: metricsResources.map((resource) => {
    return { ...resource, singular: '', verbs: ['get'], shortNames: [], categories: [], subresources: [] };
  }),
};

function servedVersion(version: string, members: readonly Grouped[]): ServedVersion {
  return { version, resources: members.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

function byGroupOrder(a: string, b: string): number {
  const [first, second] = [groupOrder.indexOf(a), groupOrder.indexOf(b)];
  if (first >= 0 && second >= 0) return first - second;
  if (first >= 0 || second >= 0) return first >= 0 ? -1 : 1;
  return a < b ? -1 : 1;
}

function describeGroup({ name, versions }: ServedGroup): object {
  const described = versions.map(({ version }) => ({
    groupVersion: apiVersionOf({ group: name, version }),
    version,
  }));
  return { name, versions: described, preferredVersion: described[0] };
}

function describeResource({
  name,
  singular,
  kind,
  namespaced,
  verbs,
  shortNames,
  categories,
  storageVersionHash,
}: ServedResource): object {
  return {
    name,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(storageVersionHash === undefined ? {} : { storageVersionHash }),
  };
}

function describeSubresources({ name, namespaced, subresources }: ServedResource): object[] {
  return subresources.map(({ name: part, kind, group, version, verbs }) => ({
    name: `${name}/${part}`,
    singularName: '',
    namespaced,
    ...(group === undefined ? {} : { group, version }),
    kind,
    verbs,
  }));
}

import { apiVersionOf } from '../../../kube/resource.ts';
import type { KindCatalog } from '../../kinds/kind-catalog.ts';
import type { RequestVerb, ServedKind } from '../../kinds/served-kind.ts';
import { cachedPerCatalogVersion } from '../catalog-version-cache.ts';
import { type ReviewKind, reviewKinds } from './review-kinds.ts';
import { isMeasured, metricsGroup } from './simulated-metrics.ts';
import { isSimulatedSubresource } from './simulated-subresources.ts';
import { resourceVerbs, subresourceVerbs } from './verbs.ts';

/**
 * The meaning of a path. Names are unescaped. Paths with an escaped slash, an empty segment or a dot segment never
 * reach the store. One trailing slash is allowed everywhere, as in kube-apiserver.
 */
export type Route =
  /** A single page; `rest` is the remaining path, such as `ping` in `/healthz/ping`. */
  | { readonly kind: 'page'; readonly page: ServerPage; readonly rest: string }
  | { readonly kind: 'discovery'; readonly target: DiscoveryTarget }
  | { readonly kind: 'resource'; readonly target: ResourceTarget }
  | { readonly kind: 'review'; readonly review: ReviewKind; readonly namespace: string | undefined }
  /** `page`: the plain-text 404 of an unknown path. `status`: a 404 Status within an existing group. */
  | { readonly kind: 'missing'; readonly style: 'page' | 'status' }
  /** A subresource that a custom resource does not have: kube-apiserver reports the object as not found. */
  | { readonly kind: 'missingSubresource'; readonly resource: ServedKind; readonly name: string }
  /** A subresource that needs containers or a kubelet, such as `pods/log`. */
  | { readonly kind: 'simulated'; readonly target: SubresourceTarget }
  /** Metrics of pods or nodes. `resource` is what they would be about. */
  | { readonly kind: 'metrics'; readonly resource: ServedKind; readonly key: MeasuredKey }
  | { readonly kind: 'malformed' };

export type ServerPage =
  | 'index'
  | 'version'
  | 'metrics'
  | 'healthz'
  | 'livez'
  | 'readyz'
  | 'openapi/v2'
  | 'openapi/v3'
  | 'openid/v1/jwks'
  | '.well-known/openid-configuration';

export type DiscoveryTarget =
  | { readonly kind: 'core' | 'groups' }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'version'; readonly apiVersion: string };

export interface ResourceTarget {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  /** Undefined for the collection. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** Whether it is a legacy watch path: `/api/v1/watch/pods`. */
  readonly isWatchPath: boolean;
}

export interface SubresourceTarget {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string;
}

/** Without a name: all of the namespace, or of the cluster. */
interface MeasuredKey {
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

export class Router {
  readonly #kinds: KindCatalog;
  readonly #names: () => ServedNames;

  constructor(kinds: KindCatalog) {
    this.#kinds = kinds;
    this.#names = cachedPerCatalogVersion(kinds, servedNames);
  }

  route(path: string): Route {
    const parts = pathSegments(path);
    if (parts === undefined) return { kind: 'malformed' };
    if (parts === 'invalidSegment') return this.#unmatchablePath(path);
    const [first = '', ...rest] = parts;
    if (first === 'api') return this.#routeCore(rest);
    if (first === 'apis') return this.#routeGroups(rest);
    return routePage(first, rest);
  }

  /** Segments that are empty, dots or contain a slash match nothing. Inside the API that is a 404 Status. */
  #unmatchablePath(path: string): Route {
    return { kind: 'missing', style: /^\/apis?\//.test(path) ? 'status' : 'page' };
  }

  #routeCore(parts: readonly string[]): Route {
    const [version, ...rest] = parts;
    if (version === undefined) return { kind: 'discovery', target: { kind: 'core' } };
    return this.#routeVersion(version, rest);
  }

  #routeGroups(parts: readonly string[]): Route {
    const [group, version, ...rest] = parts;
    if (group === undefined) return { kind: 'discovery', target: { kind: 'groups' } };
    if (group === '' || !this.#names().groups.has(group)) return missingPage;
    if (version === undefined) return { kind: 'discovery', target: { kind: 'group', group } };
    return this.#routeVersion(`${group}/${version}`, rest);
  }

  #routeVersion(apiVersion: string, parts: readonly string[]): Route {
    if (!this.#names().apiVersions.has(apiVersion)) return this.#missingIn(apiVersion);
    if (parts.length === 0) return { kind: 'discovery', target: { kind: 'version', apiVersion } };
    if (this.#names().hasNoMetrics && apiVersion === apiVersionOf(metricsGroup))
      return this.#routeMetrics(parts);
    const isWatchPath = parts[0] === 'watch';
    return this.#routeResource(apiVersion, isWatchPath ? parts.slice(1) : parts, isWatchPath);
  }

  #routeResource(apiVersion: string, parts: readonly string[], isWatchPath: boolean): Route {
    const { namespace, path } = splitNamespace(parts);
    const [plural = '', name, subresource, ...rest] = path;
    const review = reviewKinds.find((kind) => apiVersionOf(kind) === apiVersion && kind.plural === plural);
    if (review !== undefined) return routeReview(review, namespace, path.length);
    const kind = this.#kinds.byPlural(apiVersion, plural);
    if (kind === undefined) return this.#missingIn(apiVersion);
    if (kind.namespaced ? namespace === undefined && name !== undefined : namespace !== undefined)
      return this.#missingIn(apiVersion);
    if (name !== undefined && subresource !== undefined && isSimulatedSubresource(kind, subresource))
      return { kind: 'simulated', target: { kind, namespace, name, subresource } };
    if (rest.length > 0) return this.#missingIn(apiVersion);
    const isUnknown = subresource !== undefined && subresourceVerbs(kind, subresource).length === 0;
    if (isUnknown && kind.definition !== undefined)
      return { kind: 'missingSubresource', resource: kind, name: name ?? '' };
    if (isUnknown || (isWatchPath && subresource !== undefined)) return missingStatus;
    return { kind: 'resource', target: { kind, namespace, name, subresource, isWatchPath } };
  }

  #routeMetrics(parts: readonly string[]): Route {
    const { namespace, path } = splitNamespace(parts);
    const [plural = '', name, ...rest] = path;
    const resource = isMeasured(plural) ? this.#kinds.byPlural('v1', plural) : undefined;
    if (resource === undefined || rest.length > 0) return missingStatus;
    return { kind: 'metrics', resource, key: { namespace, name } };
  }

  /** Responds with a plain 404 page to an unknown resource of a group that has only custom resources. */
  #missingIn(apiVersion: string): Route {
    const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [];
    return this.#names().builtInGroups.has(group) ? missingStatus : missingPage;
  }
}

interface ServedNames {
  /** Groups with built-in kinds. */
  readonly builtInGroups: ReadonlySet<string>;
  readonly apiVersions: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  /** Whether the group of metrics is ours. A CustomResourceDefinition may define it. */
  readonly hasNoMetrics: boolean;
}

function servedNames({ all }: KindCatalog): ServedNames {
  const hasNoMetrics = !all.some(({ group }) => group === metricsGroup.group);
  const others = hasNoMetrics ? [...reviewKinds, metricsGroup] : reviewKinds;
  const served = [...all, ...others];
  const builtIn = [...all.filter(({ definition }) => definition === undefined), ...others];
  return {
    builtInGroups: new Set(builtIn.map(({ group }) => group)),
    apiVersions: new Set(served.map(apiVersionOf)),
    groups: new Set(served.map(({ group }) => group)),
    hasNoMetrics,
  };
}

/** Undefined if the method is not supported for the target. */
export function verbOfRequest(
  method: string,
  target: ResourceTarget,
  isWatch: boolean,
): RequestVerb | undefined {
  const verb = target.isWatchPath
    ? method === 'GET'
      ? 'watch'
      : undefined
    : requestedVerb(method, target, isWatch);
  if (verb === undefined) return undefined;
  const { kind, namespace, name, subresource } = target;
  if (subresource !== undefined) return subresourceVerbs(kind, subresource).includes(verb) ? verb : undefined;
  // Across namespaces only reads are possible.
  const isAcross = kind.namespaced && namespace === undefined && name === undefined;
  if (isAcross && verb !== 'list' && verb !== 'watch') return undefined;
  return resourceVerbs(kind).includes(verb) ? verb : undefined;
}

function requestedVerb(method: string, target: ResourceTarget, isWatch: boolean): RequestVerb | undefined {
  const isNamed = target.name !== undefined;
  switch (method) {
    case 'GET':
      return isNamed ? 'get' : isWatch ? 'watch' : 'list';
    case 'POST':
      return isNamed === (target.subresource !== undefined) ? 'create' : undefined;
    case 'PUT':
      return isNamed ? 'update' : undefined;
    case 'PATCH':
      return isNamed ? 'patch' : undefined;
    case 'DELETE':
      return isNamed ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}

const missingPage: Route = { kind: 'missing', style: 'page' };
const missingStatus: Route = { kind: 'missing', style: 'status' };

/** Undefined for an invalid escape; `invalidSegment` if a segment cannot be a name. */
function pathSegments(path: string): readonly string[] | 'invalidSegment' | undefined {
  if (!path.startsWith('/')) return undefined;
  const trimmed = path.endsWith('/') ? path.slice(1, -1) : path.slice(1);
  if (trimmed === '') return path === '/' ? [] : 'invalidSegment';
  const parts: string[] = [];
  for (const escaped of trimmed.split('/')) {
    const part = unescaped(escaped);
    if (part === undefined) return undefined;
    if (part === '' || part.includes('/') || escaped === '.' || escaped === '..') return 'invalidSegment';
    parts.push(part);
  }
  return parts;
}

function unescaped(part: string): string | undefined {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    // An invalid escape is the client's error and becomes a 400.
    return undefined;
  }
}

/** `namespaces/x/pods` addresses pods in x; `namespaces/x` and its subresources address the namespace itself. */
function splitNamespace(parts: readonly string[]): {
  readonly namespace: string | undefined;
  readonly path: readonly string[];
} {
  const [first, namespace, third] = parts;
  const isAboutNamespace = third === undefined || third === 'status' || third === 'finalize';
  if (first !== 'namespaces' || isAboutNamespace) return { namespace: undefined, path: parts };
  return { namespace, path: parts.slice(2) };
}

function routeReview(review: ReviewKind, namespace: string | undefined, depth: number): Route {
  if (depth !== 1 || review.namespaced !== (namespace !== undefined)) return missingStatus;
  return { kind: 'review', review, namespace };
}

function routePage(first: string, parts: readonly string[]): Route {
  const rest = parts.join('/');
  switch (first) {
    case '':
    case 'metrics':
    case 'version':
      return rest === '' ? { kind: 'page', page: first === '' ? 'index' : first, rest } : missingPage;
    case 'healthz':
    case 'livez':
    case 'readyz':
      return { kind: 'page', page: first, rest };
    case 'openapi':
      if (rest === 'v2') return { kind: 'page', page: 'openapi/v2', rest: '' };
      if (parts[0] !== 'v3') return missingPage;
      return { kind: 'page', page: 'openapi/v3', rest: parts.slice(1).join('/') };
    case 'openid':
      return rest === 'v1/jwks' ? { kind: 'page', page: 'openid/v1/jwks', rest: '' } : missingPage;
    case '.well-known':
      if (rest !== 'openid-configuration') return missingPage;
      return { kind: 'page', page: '.well-known/openid-configuration', rest: '' };
    default:
      return missingPage;
  }
}

import { trimmed } from '../../kube/go/trim.ts';
import { selectedName } from '../registry/selection/selected-name.ts';
import { pathSegmentProblems } from '../validation/names.ts';

/** The requested action as RBAC rules see it: a verb on a resource or on a path. Empty strings mean "none". */
export type Attributes = ResourceAttributes | PathAttributes;

export interface ResourceAttributes {
  readonly kind: 'resource';
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface PathAttributes {
  readonly kind: 'path';
  readonly verb: string;
  readonly path: string;
}

export interface AttributesRequest {
  readonly method: string;
  /** Escaped, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly isWatch: boolean;
}

/**
 * Derives the attributes from a request, whether or not the path is served: unauthorized callers must not learn what
 * exists. Undefined if the path is invalid. Follows kube-apiserver's RequestInfo.
 */
export function attributesOf(request: AttributesRequest): Attributes | undefined {
  const path = unescaped(request.path);
  if (path === undefined) return undefined;
  const requested: PathAttributes = { kind: 'path', verb: request.method.toLowerCase(), path };
  const parts = trimmed(path, '/').split('/');
  if (parts.length < 3 || (parts[0] !== 'api' && parts[0] !== 'apis')) return requested;
  if (parts[0] === 'api') return resourceAttributes(request, '', parts.slice(2));
  return parts.length < 4 ? requested : resourceAttributes(request, parts[1] ?? '', parts.slice(3));
}

function resourceAttributes(request: AttributesRequest, group: string, parts: readonly string[]): Attributes {
  const isByPath = parts[0] === 'watch' || parts[0] === 'proxy';
  const rest = isByPath ? parts.slice(1) : parts;
  const isOfNamespace = rest[0] === 'namespaces' && rest.length > 1;
  const isAboutNamespace = rest[2] === undefined || rest[2] === 'status' || rest[2] === 'finalize';
  const [resource = '', name = '', subresource = ''] =
    isOfNamespace && !isAboutNamespace ? rest.slice(2) : rest;
  const verb = isByPath ? (parts[0] ?? '') : (methodVerbs[request.method] ?? '');
  return {
    kind: 'resource',
    group,
    resource,
    subresource: verb === 'proxy' ? '' : subresource,
    namespace: isOfNamespace ? (rest[1] ?? '') : '',
    ...withVerbAndName(request, verb, name),
  };
}

/** A GET without a name is a list or a watch; a name in a field selector counts as the name. */
function withVerbAndName(
  request: AttributesRequest,
  verb: string,
  name: string,
): { verb: string; name: string } {
  if (name !== '') return { verb, name };
  if (verb === 'delete') return { verb: 'deletecollection', name };
  if (verb !== 'get') return { verb, name };
  const selected = selectedName(request.query.get('fieldSelector') ?? '') ?? '';
  const isName = pathSegmentProblems(selected).length === 0;
  return { verb: request.isWatch ? 'watch' : 'list', name: isName ? selected : '' };
}

const methodVerbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

function unescaped(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    // An invalid escape: no such path.
    return undefined;
  }
}

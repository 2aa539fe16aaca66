import type { RequestVerb, ServedKind } from '../../kinds/served-kind.ts';

const allVerbs: readonly RequestVerb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** The order in which kube-apiserver lists the verbs of custom resources. */
const verbsOfDefined: readonly RequestVerb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];

/** The verbs that a kind's resource supports. */
export function resourceVerbs(kind: ServedKind): readonly RequestVerb[] {
  if (kind.definition !== undefined) return verbsOfDefined;
  // Namespaces can only be deleted one by one, since each deletes all its contents.
  const isNamespace = kind.group === '' && kind.plural === 'namespaces';
  return isNamespace ? allVerbs.filter((verb) => verb !== 'deletecollection') : allVerbs;
}

const partVerbs: readonly RequestVerb[] = ['get', 'patch', 'update'];

/** The verbs of a subresource; none if the kind does not have it. */
export function subresourceVerbs(kind: ServedKind, name: string): readonly RequestVerb[] {
  if (name === 'status') return kind.hasStatus ? partVerbs : [];
  if (name === 'scale') return kind.scale === undefined ? [] : partVerbs;
  return kind.subresources?.find((subresource) => subresource.name === name)?.verbs ?? [];
}

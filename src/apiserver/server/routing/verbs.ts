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

/** In the order in which the real server tells them of custom resources. */
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

/** What can be done with the objects of a kind. */
export function resourceVerbs(kind: ServedKind): readonly RequestVerb[] {
  if (kind.definition !== undefined) return verbsOfDefined;
  // Namespaces can only be deleted one by one: each takes everything in it along.
  const isNamespace = kind.group === '' && kind.plural === 'namespaces';
  return isNamespace ? allVerbs.filter((verb) => verb !== 'deletecollection') : allVerbs;
}

const partVerbs: readonly RequestVerb[] = ['get', 'patch', 'update'];

/** What can be done with a part of an object; nothing where the kind has no such part. */
export function subresourceVerbs(kind: ServedKind, name: string): readonly RequestVerb[] {
  if (name === 'status') return kind.hasStatus ? partVerbs : [];
  if (name === 'scale') return kind.scale === undefined ? [] : partVerbs;
  return kind.subresources?.find((subresource) => subresource.name === name)?.verbs ?? [];
}

import type { Kind, Verb } from '../../kinds/served-kind.ts';

const allVerbs: readonly Verb[] = [
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
const verbsOfDefined: readonly Verb[] = [
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
export function verbsOf(kind: Kind): readonly Verb[] {
  if (kind.definition !== undefined) return verbsOfDefined;
  // Namespaces can only be deleted one by one: each takes everything in it along.
  const isNamespace = kind.group === '' && kind.plural === 'namespaces';
  return isNamespace ? allVerbs.filter((verb) => verb !== 'deletecollection') : allVerbs;
}

const partVerbs: readonly Verb[] = ['get', 'patch', 'update'];

/** What can be done with a part of an object; nothing where the kind has no such part. */
export function verbsOfSubresource(kind: Kind, name: string): readonly Verb[] {
  if (name === 'status') return kind.hasStatus ? partVerbs : [];
  if (name === 'scale') return kind.scale === undefined ? [] : partVerbs;
  return kind.subresources?.find((subresource) => subresource.name === name)?.verbs ?? [];
}

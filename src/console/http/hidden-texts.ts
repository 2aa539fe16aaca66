import { mayList, namespacesOf, type Rights } from '../access/rights.ts';
import { namespacesAskedMax } from '../access/token-rights.ts';
import { consoleKinds, resourceOfKind } from '../state/console-objects.ts';

/** What the viewer may not see, for the head of the page. */
export function hiddenTexts(rights: Rights): readonly string[] {
  if (rights.isFull) return [];
  const hidden = consoleKinds
    .map(resourceOfKind)
    .filter(({ plural }) => !mayList(rights, plural) && namespacesOf(rights, plural)?.length === 0)
    .map(({ plural }) => plural);
  const namespaces = namespacesOf(rights, 'pods');
  const seesSums = mayList(rights, 'pods') && mayList(rights, 'persistentvolumeclaims');
  return [
    ...(hidden.length === 0 ? [] : [`You may not list ${hidden.join(', ')}.`]),
    ...(namespaces === undefined || namespaces.length === 0
      ? []
      : [
          `You may list pods only in ${namespaces.length === 1 ? 'namespace' : 'the namespaces'} ${namespaces.join(', ')}` +
            ` (the console checks at most ${namespacesAskedMax} namespaces).`,
        ]),
    ...(seesSums
      ? []
      : [
          'What pods request on nodes, and what is promised to claims, is shown to those who may list all of them.',
        ]),
  ];
}

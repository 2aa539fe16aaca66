import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
} from '../../kube/api/stored/apiextensions.ts';
import { isConditionTrue, withDefinitionCondition } from '../kinds/apiextensions/definition-conditions.ts';

/** Names in use by other definitions of the group. */
export interface TakenNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

export function takenNames(others: readonly CustomResourceDefinition[]): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { status } of others) {
    const { plural, singular = '', shortNames = [], kind, listKind = '' } = status.acceptedNames;
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    for (const name of [kind, listKind]) kinds.add(name);
  }
  return { resources, kinds };
}

/**
 * Decides which names a definition gets, and its conditions. It keeps names that it has; it does not get names in use
 * by others. The last conflict found is reported.
 */
export function statusWithAcceptedNames(
  definition: CustomResourceDefinition,
  taken: TakenNames,
  now: string,
): CustomResourceDefinition['status'] {
  const { spec, status } = definition;
  const { names, conflict } = acceptedNames(spec.names, status.acceptedNames, taken);
  const accepted = { type: 'NamesAccepted', ...(conflict ?? noConflict), lastTransitionTime: now };
  const isEstablished = conflict === undefined || isConditionTrue(definition, 'Established');
  const outcome = isEstablished ? namesAccepted : namesRefused;
  const established = { type: 'Established', ...outcome, lastTransitionTime: now };
  const conditions = withDefinitionCondition(
    withDefinitionCondition(status.conditions ?? [], accepted),
    established,
  );
  return { ...status, acceptedNames: names, conditions };
}

const noConflict = { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
const namesAccepted = {
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};
const namesRefused = { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };

interface Conflict {
  readonly status: 'False';
  readonly reason: string;
  readonly message: string;
}

function acceptedNames(
  wanted: CustomResourceDefinitionNames,
  held: CustomResourceDefinitionNames,
  { resources, kinds }: TakenNames,
): { readonly names: CustomResourceDefinitionNames; readonly conflict: Conflict | undefined } {
  const names: CustomResourceDefinitionNames = { ...held };
  let conflict: Conflict | undefined;
  const settle = (name: 'plural' | 'singular' | 'kind' | 'listKind', reason: string) => {
    const used = name === 'plural' || name === 'singular' ? resources : kinds;
    const requested = wanted[name] ?? '';
    if (requested === (held[name] ?? '') || !used.has(requested)) names[name] = requested;
    else conflict = { status: 'False', reason, message: inUse(requested) };
  };
  settle('plural', 'PluralConflict');
  settle('singular', 'SingularConflict');
  const clashing = (wanted.shortNames ?? []).filter(
    (name) => held.shortNames?.includes(name) !== true && resources.has(name),
  );
  if (clashing.length === 0) setOrDrop(names, 'shortNames', wanted.shortNames);
  else conflict = { status: 'False', reason: 'ShortNamesConflict', message: aggregated(clashing.map(inUse)) };
  settle('kind', 'KindConflict');
  settle('listKind', 'ListKindConflict');
  setOrDrop(names, 'categories', wanted.categories);
  return { names, conflict };
}

function setOrDrop(
  names: CustomResourceDefinitionNames,
  field: 'shortNames' | 'categories',
  value: string[] | undefined,
): void {
  if (value === undefined) delete names[field];
  else names[field] = value;
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

/** Go's format for several errors. */
function aggregated(messages: readonly string[]): string {
  return messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`;
}

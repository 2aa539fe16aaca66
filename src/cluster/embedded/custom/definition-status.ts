import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
} from '../schema/generated/apiextensions-v1.ts';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

export function hasCondition({ status }: CustomResourceDefinition, type: string): boolean {
  return (status.conditions ?? []).some((each) => each.type === type && each.status === 'True');
}

/** Names that other definitions of the group hold. */
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

type Condition = Omit<CustomResourceDefinitionCondition, 'lastTransitionTime'>;

/**
 * Which of its names a definition gets, and what is said about that. A name that it has it keeps; a name that another one has it
 * does not get, and the last conflict found is told.
 */
export function settledStatus(
  definition: CustomResourceDefinition,
  taken: TakenNames,
  now: string,
): CustomResourceDefinition['status'] {
  const { spec, status } = definition;
  const { names, conflict } = acceptedNames(spec.names, status.acceptedNames, taken);
  const accepted: Condition =
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict };
  const isEstablished = conflict === undefined || hasCondition(definition, 'Established');
  const established: Condition = isEstablished
    ? {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      }
    : {
        type: 'Established',
        status: 'False',
        reason: 'NotAccepted',
        message: 'not all names are accepted',
      };
  const conditions = withCondition(withCondition(status.conditions ?? [], accepted, now), established, now);
  return { ...status, acceptedNames: names, conditions };
}

/** The time is that of the last change of its status. */
export function withCondition(
  conditions: readonly CustomResourceDefinitionCondition[],
  next: Condition,
  now: string,
): CustomResourceDefinitionCondition[] {
  const old = conditions.find(({ type }) => type === next.type);
  const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : now;
  const { type, status, ...why } = next;
  const made = { type, status, lastTransitionTime, ...why };
  if (old === undefined) return [...conditions, made];
  return conditions.map((each) => (each === old ? made : each));
}

interface Conflict {
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
    const asked = wanted[name] ?? '';
    if (asked === (held[name] ?? '') || !used.has(asked)) names[name] = asked;
    else conflict = { reason, message: inUse(asked) };
  };
  settle('plural', 'PluralConflict');
  settle('singular', 'SingularConflict');
  const clashing = (wanted.shortNames ?? []).filter(
    (name) => held.shortNames?.includes(name) !== true && resources.has(name),
  );
  if (clashing.length === 0) setOrDrop(names, 'shortNames', wanted.shortNames);
  else conflict = { reason: 'ShortNamesConflict', message: aggregated(clashing.map(inUse)) };
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

/** Go's way of telling several errors as one. */
function aggregated(messages: readonly string[]): string {
  return messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`;
}

import type { Condition } from '../../kube/api/meta.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';

/** The objects of a resource that remain in a namespace that is being deleted. */
export interface RemainingContent {
  /** `pods`, `statefulsets.apps`. */
  readonly resource: string;
  readonly count: number;
  /** The finalizers of all these objects, with repetitions. */
  readonly finalizers: readonly string[];
}

/** The state without problems. `kubectl describe namespace` shows these conditions, so the texts are those of Kubernetes. */
const withoutProblems = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  [
    'NamespaceDeletionGroupVersionParsingFailure',
    'ParsedGroupVersions',
    'All legacy kube types successfully parsed',
  ],
  [
    'NamespaceDeletionContentFailure',
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  ['NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed'],
  ['NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
] as const;

/** The conditions that say what a namespace waits for; undefined if they are up to date. */
export function contentConditions(
  current: readonly Condition[],
  remaining: readonly RemainingContent[],
  nowMs: number,
): readonly Condition[] | undefined {
  const lastTransitionTime = formatTimestamp(nowMs);
  const wanted = withoutProblems.map(([type, reason, message]): Condition => {
    const problem = problemOf(type, remaining);
    return problem === undefined
      ? { type, status: 'False', reason, message, lastTransitionTime }
      : { type, status: 'True', ...problem, lastTransitionTime };
  });
  const isCurrent = wanted.every((condition) => current.some((known) => isSameCondition(known, condition)));
  return isCurrent ? undefined : wanted.map((condition) => keepTime(current, condition));
}

function problemOf(
  type: string,
  remaining: readonly RemainingContent[],
): Pick<Condition, 'reason' | 'message'> | undefined {
  if (remaining.length === 0) return undefined;
  if (type === 'NamespaceContentRemaining') {
    const texts = remaining.map(
      ({ resource, count }) => `${withDot(resource)} has ${count} resource instances`,
    );
    return { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${texts.join(', ')}` };
  }
  const counts = countFinalizers(remaining);
  if (type !== 'NamespaceFinalizersRemaining' || counts.size === 0) return undefined;
  const texts = [...counts].sort().map(([name, count]) => `${name} in ${count} resource instances`);
  return {
    reason: 'SomeFinalizersRemain',
    message: `Some content in the namespace has finalizers remaining: ${texts.join(', ')}`,
  };
}

function countFinalizers(remaining: readonly RemainingContent[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { finalizers } of remaining) {
    for (const name of finalizers) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Kubernetes writes `pods.` with a trailing dot where a group would follow. */
function withDot(resource: string): string {
  return resource.includes('.') ? resource : `${resource}.`;
}

function isSameCondition(a: Condition, b: Condition): boolean {
  return a.type === b.type && a.status === b.status && a.reason === b.reason && a.message === b.message;
}

function keepTime(current: readonly Condition[], condition: Condition): Condition {
  const before = current.find(({ type, status }) => type === condition.type && status === condition.status);
  return before?.lastTransitionTime === undefined
    ? condition
    : { ...condition, lastTransitionTime: before.lastTransitionTime };
}

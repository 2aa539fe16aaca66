import type { TopologySpreadConstraint } from '../../../kube/api/core.ts';
import { type CompiledLabelSelector, compileLabelSelector } from '../../../kube/selectors/label-selector.ts';
import { isLabelValue } from '../../../kube/selectors/label-syntax.ts';
import type { Requirement } from '../../../kube/selectors/requirement.ts';
import { lookUp, textOf } from '../../../kube/wire.ts';
import { nonNullItems } from '../field-readers.ts';
import { memoByShape, type ShapeSpec } from './pod-shape.ts';

/** A topology spread constraint: how evenly pods are spread over the values of one node label. */
export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  /** If there are fewer domains than this, the global minimum counts as zero. */
  readonly minDomains: number;
  readonly selector: CompiledLabelSelector;
  /** Label keys for which other pods must have the pod's own value. */
  readonly matchLabelKeys: readonly string[];
  /** Ignore nodes that the pod's node selector and affinity rule out. */
  readonly honoursAffinity: boolean;
  /** Ignore nodes with taints that the pod doesn't tolerate. */
  readonly honoursTaints: boolean;
}

export interface SpreadConstraints {
  /** DoNotSchedule. */
  readonly hard: readonly SpreadConstraint[];
  /** ScheduleAnyway. */
  readonly soft: readonly SpreadConstraint[];
  /** The pod has no constraints, so that the cluster's defaults apply. */
  readonly isEmpty: boolean;
  readonly problem: string | undefined;
}

const none: SpreadConstraints = { hard: [], soft: [], isEmpty: true, problem: undefined };

export const spreadConstraintsOf = memoByShape(readConstraints);

/**
 * The constraint's selector with matchLabelKeys for a pod with these labels. The API server may have merged them already; then this
 * doesn't change what is selected.
 */
export function selectorFor(
  { selector, matchLabelKeys }: SpreadConstraint,
  labels: Readonly<Record<string, string>>,
): CompiledLabelSelector {
  const own = matchLabelKeys.flatMap((key) => equality(key, lookUp(labels, key)));
  return own.length === 0 ? selector : { requirements: [...own, ...selector.requirements] };
}

function equality(key: string, value: string | undefined): readonly Requirement[] {
  if (value === undefined || !isLabelValue(value)) return [];
  return [{ key, operator: 'In', values: new Set([value]), bound: undefined }];
}

function readConstraints({ topologySpreadConstraints }: ShapeSpec): SpreadConstraints {
  const constraints = nonNullItems(topologySpreadConstraints);
  if (constraints.length === 0) return none;
  const hard: SpreadConstraint[] = [];
  const soft: SpreadConstraint[] = [];
  const problems: string[] = [];
  for (const [at, constraint] of constraints.entries()) {
    const read = readConstraint(constraint, `spec.topologySpreadConstraints[${at}]`, problems);
    if (read === undefined) continue;
    if (constraint.whenUnsatisfiable === 'DoNotSchedule') hard.push(read);
    if (constraint.whenUnsatisfiable === 'ScheduleAnyway') soft.push(read);
  }
  return { hard, soft, isEmpty: false, problem: problems[0] };
}

function readConstraint(
  constraint: TopologySpreadConstraint,
  field: string,
  problems: string[],
): SpreadConstraint | undefined {
  const compiled = compileLabelSelector(constraint.labelSelector, `${field}.labelSelector`);
  if (!compiled.ok) {
    problems.push(compiled.problem);
    return undefined;
  }
  return {
    topologyKey: textOf(constraint.topologyKey),
    maxSkew: integerOr(constraint.maxSkew, 0),
    minDomains: integerOr(constraint.minDomains, 1),
    selector: compiled.selector,
    matchLabelKeys: nonNullItems(constraint.matchLabelKeys).filter((key) => typeof key === 'string'),
    honoursAffinity: (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor',
    honoursTaints: constraint.nodeTaintsPolicy === 'Honor',
  };
}

function integerOr(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : fallback;
}

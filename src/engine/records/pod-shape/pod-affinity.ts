import type { PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm } from '../../../kube/api/core.ts';
import {
  type CompiledLabelSelector,
  compileLabelSelector,
  matchesLabels,
} from '../../../kube/selectors/label-selector.ts';
import { isRecord, textOf } from '../../../kube/wire.ts';
import { nonNullItems } from '../field-readers.ts';
import { requirementsKey } from '../node-matcher.ts';
import { memoByShape, type ShapeSpec } from './pod-shape.ts';

/**
 * One term of a pod's affinity or anti-affinity: the pods that it selects, and the topology key. The API server has already merged
 * matchLabelKeys and mismatchLabelKeys into the label selector, and the scheduler ignores them.
 */
export interface PodTerm {
  /** Terms with equal keys are equal. */
  readonly key: string;
  readonly topologyKey: string;
  readonly selector: CompiledLabelSelector;
  readonly names: readonly string[];
  /** The term has neither names nor a namespace selector: it selects the namespace of its own pod. */
  readonly isOwnNamespace: boolean;
  /** Selects namespaces by label, in addition to `names`; undefined selects none. */
  readonly namespaceSelector: CompiledLabelSelector | undefined;
  /** The score of one selected pod in the same domain; negative for anti-affinity. */
  readonly weight: number;
}

/** The terms of a pod. A list with an unreadable term is empty. */
export interface PodTerms {
  /** Equal for pods with equal terms. */
  readonly key: string;
  readonly required: readonly PodTerm[];
  readonly requiredAnti: readonly PodTerm[];
  /** Preferred affinity and anti-affinity. Anti-affinity has negative weights. */
  readonly preferred: readonly PodTerm[];
  /** The first field that can't be read. */
  readonly problem: string | undefined;
}

/** The score of a required affinity term of an existing pod (`hardPodAffinityWeight`). */
const requiredWeight = 1;
const noTerms: PodTerms = { key: '', required: [], requiredAnti: [], preferred: [], problem: undefined };

export const podTermsOf = memoByShape(readPodTerms);

/** Whether the term of a pod in `namespace` selects the other pod. */
export function termMatches(term: PodTerm, namespace: string, target: TermTarget): boolean {
  if (!matchesLabels(term.selector, target.labels)) return false;
  if (term.isOwnNamespace) return target.namespace === namespace;
  if (term.names.includes(target.namespace)) return true;
  return (
    term.namespaceSelector !== undefined && matchesLabels(term.namespaceSelector, target.namespaceLabels())
  );
}

/** The view of a pod that terms are matched against. */
export interface TermTarget {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The labels of the pod's namespace. Called only for terms with a namespace selector. */
  namespaceLabels(): Readonly<Record<string, string>>;
}

function readPodTerms({ affinity }: ShapeSpec): PodTerms {
  const affinityTerms = affinityOrUndefined(affinity?.podAffinity);
  const antiAffinityTerms = affinityOrUndefined(affinity?.podAntiAffinity);
  if (affinityTerms === undefined && antiAffinityTerms === undefined) return noTerms;
  const problems: string[] = [];
  const required = readTerms(affinityTerms, 'podAffinity', problems);
  const requiredAnti = readTerms(antiAffinityTerms, 'podAntiAffinity', problems);
  const preferred = [
    ...readWeighted(affinityTerms, 'podAffinity', 1, problems),
    ...readWeighted(antiAffinityTerms, 'podAntiAffinity', -1, problems),
  ];
  const key = [required, requiredAnti, preferred].map((terms) => terms.map((term) => term.key).join());
  return { key: key.join('\n'), required, requiredAnti, preferred, problem: problems[0] };
}

function affinityOrUndefined(part: PodAffinity | undefined): PodAffinity | undefined {
  return isRecord(part) ? (part as PodAffinity) : undefined;
}

function readTerms(part: PodAffinity | undefined, name: string, problems: string[]): readonly PodTerm[] {
  const field = `spec.affinity.${name}.requiredDuringSchedulingIgnoredDuringExecution`;
  const terms = nonNullItems(part?.requiredDuringSchedulingIgnoredDuringExecution);
  return allOrNone(terms.map((term, at) => readTerm(term, requiredWeight, `${field}[${at}]`, problems)));
}

function readWeighted(
  part: PodAffinity | undefined,
  name: string,
  sign: 1 | -1,
  problems: string[],
): readonly PodTerm[] {
  const field = `spec.affinity.${name}.preferredDuringSchedulingIgnoredDuringExecution`;
  const terms: readonly WeightedPodAffinityTerm[] = nonNullItems(
    part?.preferredDuringSchedulingIgnoredDuringExecution,
  );
  return allOrNone(
    terms.map(({ weight, podAffinityTerm }, at) =>
      readTerm(
        podAffinityTerm ?? {},
        sign * integerOrZero(weight),
        `${field}[${at}].podAffinityTerm`,
        problems,
      ),
    ),
  );
}

function readTerm(
  term: PodAffinityTerm,
  weight: number,
  field: string,
  problems: string[],
): PodTerm | undefined {
  const pods = compileLabelSelector(term.labelSelector, `${field}.labelSelector`);
  const hasSelector = term.namespaceSelector !== undefined && term.namespaceSelector !== null;
  const namespaces = compileLabelSelector(term.namespaceSelector, `${field}.namespaceSelector`);
  if (!pods.ok) problems.push(pods.problem);
  if (!namespaces.ok) problems.push(namespaces.problem);
  if (!pods.ok || !namespaces.ok) return undefined;
  const names = nonNullItems(term.namespaces).filter((name) => typeof name === 'string');
  const topologyKey = textOf(term.topologyKey);
  const namespaceSelector = hasSelector ? namespaces.selector : undefined;
  return {
    key: JSON.stringify([
      topologyKey,
      requirementsKey(pods.selector.requirements),
      names,
      namespaceSelector && requirementsKey(namespaceSelector.requirements),
      weight,
    ]),
    topologyKey,
    selector: pods.selector,
    names,
    isOwnNamespace: names.length === 0 && !hasSelector,
    namespaceSelector,
    weight,
  };
}

function allOrNone(terms: readonly (PodTerm | undefined)[]): readonly PodTerm[] {
  const readable = terms.filter((term) => term !== undefined);
  return readable.length === terms.length ? readable : [];
}

function integerOrZero(weight: unknown): number {
  return typeof weight === 'number' && Number.isInteger(weight) ? weight : 0;
}

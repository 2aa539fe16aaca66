import type { PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm } from '../../kube/api/core.ts';
import {
  type CompiledLabelSelector,
  compileLabelSelector,
  matchesLabels,
} from '../../kube/selectors/label-selector.ts';
import { isRecord, textOf } from '../../kube/wire.ts';
import { nonNullItems } from './field-readers.ts';
import { requirementsKey } from './node-matcher.ts';
import { memoByShape, type ShapeSpec } from './pod-shape.ts';

/**
 * One term of a pod's affinity or anti-affinity: which pods it is about, and what "near" is. The API server has already put
 * matchLabelKeys and mismatchLabelKeys into the label selector, and the scheduler never looks at them.
 */
export interface PodTerm {
  /** Equal keys, equal terms. */
  readonly key: string;
  readonly topologyKey: string;
  readonly selector: CompiledLabelSelector;
  readonly names: readonly string[];
  /** Neither names nor a selector: the namespace of the pod that has the term. */
  readonly isOwnNamespace: boolean;
  /** Namespaces by their labels, besides `names`; undefined selects none. */
  readonly namespaceSelector: CompiledLabelSelector | undefined;
  /** What a pod nearby counts when nodes are ranked; negative for anti-affinity. */
  readonly weight: number;
}

/** A pod's terms, by what they do. A list with a term that can't be read is empty. */
export interface PodTerms {
  /** Equal keys, equal terms: pods may differ in much else. */
  readonly key: string;
  readonly required: readonly PodTerm[];
  readonly requiredAnti: readonly PodTerm[];
  /** Of affinity and anti-affinity alike: their weights tell them apart. */
  readonly preferred: readonly PodTerm[];
  /** What can't be read. */
  readonly problem: string | undefined;
}

/** What a required term of a pod that is already there counts when nodes are ranked (`hardPodAffinityWeight`). */
const requiredWeight = 1;
const noTerms: PodTerms = { key: '', required: [], requiredAnti: [], preferred: [], problem: undefined };

export const podTermsOf = memoByShape(readPodTerms);

/** Whether the term of a pod in `namespace` is about the other pod. */
export function termMatches(term: PodTerm, namespace: string, other: TermTarget): boolean {
  if (!matchesLabels(term.selector, other.labels)) return false;
  if (term.isOwnNamespace) return other.namespace === namespace;
  if (term.names.includes(other.namespace)) return true;
  return (
    term.namespaceSelector !== undefined && matchesLabels(term.namespaceSelector, other.namespaceLabels())
  );
}

export interface TermTarget {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of its namespace; asked for only by terms that select namespaces. */
  namespaceLabels(): Readonly<Record<string, string>>;
}

function readPodTerms({ affinity }: ShapeSpec): PodTerms {
  const towards = partOf(affinity?.podAffinity);
  const away = partOf(affinity?.podAntiAffinity);
  if (towards === undefined && away === undefined) return noTerms;
  const problems: string[] = [];
  const required = readTerms(towards, 'podAffinity', problems);
  const requiredAnti = readTerms(away, 'podAntiAffinity', problems);
  const preferred = [
    ...readWeighted(towards, 'podAffinity', 1, problems),
    ...readWeighted(away, 'podAntiAffinity', -1, problems),
  ];
  const key = [required, requiredAnti, preferred].map((terms) => terms.map((term) => term.key).join());
  return { key: key.join('\n'), required, requiredAnti, preferred, problem: problems[0] };
}

function partOf(part: PodAffinity | undefined): PodAffinity | undefined {
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
      readTerm(podAffinityTerm ?? {}, sign * wholeOf(weight), `${field}[${at}].podAffinityTerm`, problems),
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
  const spaces = compileLabelSelector(term.namespaceSelector, `${field}.namespaceSelector`);
  if (!pods.ok) problems.push(pods.problem);
  if (!spaces.ok) problems.push(spaces.problem);
  if (!pods.ok || !spaces.ok) return undefined;
  const names = nonNullItems(term.namespaces).filter((name) => typeof name === 'string');
  const topologyKey = textOf(term.topologyKey);
  const namespaceSelector = hasSelector ? spaces.selector : undefined;
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

function wholeOf(weight: unknown): number {
  return typeof weight === 'number' && Number.isInteger(weight) ? weight : 0;
}

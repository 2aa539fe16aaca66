import { type Profile, stowageProfile, upstreamProfile } from '../../../src/engine/cluster-index/profile.ts';
import { type ProfileSwitch, switchDifferences } from './differences.ts';
import type { Verdict } from './verdict.ts';

export type DifferenceExplanation =
  | { readonly kind: 'same' }
  | { readonly kind: 'known'; readonly switches: readonly ProfileSwitch[] }
  | { readonly kind: 'unknown'; readonly problem: string };

const switches = Object.keys(switchDifferences) as ProfileSwitch[];
/** An explanation with few switches is best. Sets of up to this size are tried, and then all switches together. */
const togetherMax = 3;

/**
 * Decides whether the verdict of profile `stowage` equals kube-scheduler's, or differs by switches that are known to cause such a
 * difference. `ask` returns the verdict of our scheduler with a profile.
 */
export function explainDifference(real: Verdict, ask: (profile: Profile) => Verdict): DifferenceExplanation {
  const ours = nodesOf(ask(stowageProfile));
  const theirs = nodesOf(real);
  if (isSame(ours, theirs)) return { kind: 'same' };
  for (const tried of setsOf(switches, togetherMax)) {
    if (!mayGive(tried, ours, theirs)) continue;
    if (isSame(nodesOf(ask(withSwitches(tried))), theirs)) return { kind: 'known', switches: tried };
  }
  return { kind: 'unknown', problem: `no switches explain that we would take [${ours}]` };
}

function mayGive(
  tried: readonly ProfileSwitch[],
  ours: readonly string[],
  theirs: readonly string[],
): boolean {
  const gives = new Set(tried.map((name) => switchDifferences[name].gives));
  if (gives.has('either')) return true;
  const hasMore = ours.some((node) => !theirs.includes(node));
  const hasFewer = theirs.some((node) => !ours.includes(node));
  return (!hasMore || gives.has('more')) && (!hasFewer || gives.has('fewer'));
}

function withSwitches(names: readonly ProfileSwitch[]): Profile {
  return { ...stowageProfile, ...Object.fromEntries(names.map((name) => [name, upstreamProfile[name]])) };
}

function nodesOf(verdict: Verdict): readonly string[] {
  return verdict.kind === 'fits' ? verdict.nodes : [];
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((node, at) => node === other[at]);
}

/** All sets of one item, then of two, and so on. */
function* setsOf<T>(items: readonly T[], sizeMax: number): Iterable<readonly T[]> {
  let sets: (readonly number[])[] = [[]];
  for (let size = 1; size <= sizeMax; size++) {
    sets = sets.flatMap((set) => items.flatMap((_, at) => (at > (set.at(-1) ?? -1) ? [[...set, at]] : [])));
    for (const set of sets) yield set.map((at) => items[at]!);
  }
}

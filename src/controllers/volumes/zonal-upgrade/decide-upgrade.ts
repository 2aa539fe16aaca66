import type {
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PersistentVolume,
  Pod,
  VolumeNodeAffinity,
} from '../../../kube/api/core.ts';
import { compileNodeSelector, matchesNode } from '../../../kube/selectors/node-selector.ts';
import { labels, multiZoneSeparator } from '../../../kube/well-known.ts';

/** Why a volume is not changed. */
export const leaveReasons = {
  HasNodeAffinity: 'it already has a node affinity',
  NoZoneLabels: 'it has no zone or region label',
  BeingDeleted: 'it is being deleted',
} as const;

/** Why a volume with labels must not be upgraded. */
export const refusalReasons = {
  EmptyZone: 'a label names an empty zone or region',
  LabelsDisagree: 'its old and new labels disagree',
  NodeInUse: 'a node that uses it now would lose access to it',
} as const;

export type LeaveReason = keyof typeof leaveReasons;
export type RefusalReason = keyof typeof refusalReasons;

export type ZonalUpgrade =
  | { readonly kind: 'upgrade'; readonly nodeAffinity: VolumeNodeAffinity }
  | { readonly kind: 'leave'; readonly reason: LeaveReason }
  | { readonly kind: 'refuse'; readonly reason: RefusalReason; readonly message: string };

export interface ZonalUpgradeContext {
  readonly nodes: readonly Node[];
  /** Pods that are on a node and mount the volume. */
  readonly users: readonly Pod[];
}

/**
 * Decides about a volume that names its location by labels. The affinity means what the labels mean to the scheduler on nodes that
 * have such labels; nodes without them could use the volume before, and cannot afterwards.
 *
 * An affinity cannot be changed once it is written, so every uncertain case is refused.
 */
export function decideUpgrade(volume: PersistentVolume, { nodes, users }: ZonalUpgradeContext): ZonalUpgrade {
  const { metadata, spec } = volume;
  if (spec?.nodeAffinity !== undefined) return { kind: 'leave', reason: 'HasNodeAffinity' };
  if (metadata?.deletionTimestamp !== undefined) return { kind: 'leave', reason: 'BeingDeleted' };
  const read = levels.map((level) => readLevel(level, metadata?.labels ?? {}));
  const bad = read.find((level) => level.kind === 'refuse');
  if (bad !== undefined) return bad;
  const places = read.filter((level) => level.kind === 'place');
  if (places.length === 0) return { kind: 'leave', reason: 'NoZoneLabels' };
  const nodeSelectorTerms = termsFor(places, nodes);
  const nodeAffinity = { required: { nodeSelectorTerms } };
  const loss = lossOf(nodeAffinity, { nodes, users });
  return loss ?? { kind: 'upgrade', nodeAffinity };
}

interface Level {
  readonly name: 'zone' | 'region';
  readonly betaKey: string;
  readonly stableKey: string;
}

/** The levels, in the order in which their requirements are written. */
const levels: readonly Level[] = [
  { name: 'zone', betaKey: labels.betaZone, stableKey: labels.zone },
  { name: 'region', betaKey: labels.betaRegion, stableKey: labels.region },
];

type LabelMap = Readonly<Record<string, string>>;
type Refusal = Extract<ZonalUpgrade, { kind: 'refuse' }>;

interface Place {
  readonly kind: 'place';
  readonly level: Level;
  /** The volume uses the new label. */
  readonly isStable: boolean;
  readonly values: readonly string[];
}

function readLevel(level: Level, given: LabelMap): Place | Refusal | { readonly kind: 'nothing' } {
  const [beta, stable] = [given[level.betaKey], given[level.stableKey]];
  const text = stable ?? beta;
  if (text === undefined) return { kind: 'nothing' };
  const values = partsOf(text);
  for (const key of [level.stableKey, level.betaKey])
    if (given[key] !== undefined && partsOf(given[key]).includes(''))
      return emptyZone(level, key, given[key]);
  if (beta !== undefined && stable !== undefined && !isSameSet(partsOf(beta), values))
    return disagreement(level, beta, stable);
  return { kind: 'place', level, isStable: stable !== undefined, values };
}

function partsOf(text: string): readonly string[] {
  return [...new Set(text.split(multiZoneSeparator))];
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value) => other.includes(value));
}

/**
 * One term, unless there are nodes with old and with new labels: then one for each combination of keys, so that no node is lost.
 */
function termsFor(places: readonly Place[], nodes: readonly Node[]): readonly NodeSelectorTerm[] {
  let terms: readonly (readonly NodeSelectorRequirement[])[] = [[]];
  for (const place of places) {
    const requirements = keysFor(place, nodes).map(
      (key): NodeSelectorRequirement => ({ key, operator: 'In', values: place.values }),
    );
    terms = requirements.flatMap((requirement) => terms.map((term) => [...term, requirement]));
  }
  return terms.map((matchExpressions) => ({ matchExpressions }));
}

/**
 * For the scheduler, an old label of a volume also matches a node's new one; a new label matches only itself. So an old label stays if
 * all nodes that have either still have the old one, and becomes the new one if none has.
 */
function keysFor(
  { level: { betaKey, stableKey }, isStable }: Place,
  nodes: readonly Node[],
): readonly string[] {
  if (isStable) return [stableKey];
  const carried = nodes.map((node) => node.metadata?.labels ?? {});
  const isStableOnly = carried.some((given) => betaKey in given === false && stableKey in given);
  if (!isStableOnly) return [betaKey];
  return carried.some((given) => betaKey in given) ? [betaKey, stableKey] : [stableKey];
}

function lossOf(
  nodeAffinity: VolumeNodeAffinity,
  { nodes, users }: ZonalUpgradeContext,
): Refusal | undefined {
  const compiled = compileNodeSelector(nodeAffinity.required);
  for (const { metadata, spec } of users) {
    const nodeName = spec?.nodeName ?? '';
    const node = nodes.find((candidate) => candidate.metadata?.name === nodeName);
    if (node !== undefined && matchesNode(compiled, undefined, node.metadata?.labels)) continue;
    const pod = `${metadata?.namespace}/${metadata?.name}`;
    const problem = node === undefined ? 'does not exist' : `has ${placeOf(node)}`;
    return {
      kind: 'refuse',
      reason: 'NodeInUse',
      message: `pod ${pod} uses it on node ${nodeName}, which ${problem}; a node affinity cannot be changed later, so correct the labels of the node or the volume, or delete the pod first`,
    };
  }
  return undefined;
}

function placeOf({ metadata }: Node): string {
  const keys = levels.flatMap(({ betaKey, stableKey }) => [betaKey, stableKey]);
  const given = keys.flatMap((key) => {
    const value = metadata?.labels?.[key];
    return value === undefined ? [] : [`${key}=${value}`];
  });
  return given.length === 0 ? 'no zone or region label' : given.join(', ');
}

function emptyZone({ name }: Level, key: string, text: string): Refusal {
  const message = `its label ${key}=${text} names an empty ${name}; separate ${name}s by ${multiZoneSeparator}, or remove the label`;
  return { kind: 'refuse', reason: 'EmptyZone', message };
}

function disagreement({ betaKey, stableKey }: Level, beta: string, stable: string): Refusal {
  const message = `its labels ${betaKey}=${beta} and ${stableKey}=${stable} disagree; correct one of them`;
  return { kind: 'refuse', reason: 'LabelsDisagree', message };
}

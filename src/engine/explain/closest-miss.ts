import { canonicalQuantity, quantityFromBytes } from '../../kube/quantities/quantity.ts';
import type { NodeExplanation } from '../evaluation/explain-nodes.ts';
import type { Refusal } from '../refusal/refusal.ts';
import {
  type ByteMargin,
  type Finding,
  type Obstacle,
  obstacles,
  type StorageCandidate,
} from '../rules/framework/finding.ts';
import { nodeReasons } from '../rules/reasons.ts';
import type { Size } from '../size.ts';

/** Most of the cost is the iteration over all volumes, which happens once for all nodes; but a large cluster has too many nodes to explain each. */
const nodesMax = 64;

/**
 * The closest candidate for the pod's volumes, as a sentence, such as
 * `Closest is node n1: claim default/data, volume d1: it is smaller than the request (needs 5Gi, has 4Gi).`
 * Undefined if volumes were not what refused the pod.
 */
export function closestMiss(refusal: Refusal): string | undefined {
  if (!refusal.namesClosest) return undefined;
  const nodes = [...take(refusal.nodesRefusedBy('VolumeBinding'), nodesMax)];
  if (nodes.length === 0) return undefined;
  const closest = closestOf(refusal.explain(nodes).nodes);
  return closest && `Closest is node ${closest.node}: ${phraseOf(closest)}.`;
}

/** The same for one node, as a phrase: `claim default/data, volume d1: it is smaller than the request (needs 5Gi, has 4Gi)`. */
export function closestMissOn(node: NodeExplanation): string | undefined {
  const closest = closestOf([node]);
  return closest && phraseOf(closest);
}

/** The node that lacks least for all claims together; of nodes that lack more than bytes, the one with the closest candidate. */
function closestOf(nodes: readonly NodeExplanation[]): Miss | undefined {
  let closest: NodeMiss | undefined;
  for (const { node, findings } of nodes) {
    const misses = findings.filter(({ rule }) => rule === 'VolumeBinding').map((each) => missOf(node, each));
    const miss = leastOf(misses);
    if (miss === undefined) continue;
    const candidate = { miss, shortageBytes: sumOf(misses) };
    if (closest === undefined || isCloser(candidate, closest)) closest = candidate;
  }
  return closest?.miss;
}

interface Miss {
  readonly node: string;
  readonly finding: Finding;
  readonly candidate: StorageCandidate | undefined;
  readonly obstacle: Obstacle | undefined;
  readonly margin: ByteMargin | undefined;
  /** Infinite if the candidate is not short of bytes. */
  readonly shortageBytes: number;
}

interface NodeMiss {
  /** The smallest on the node. */
  readonly miss: Miss;
  readonly shortageBytes: number;
}

function isCloser(a: NodeMiss, b: NodeMiss): boolean {
  if (a.shortageBytes !== b.shortageBytes) return a.shortageBytes < b.shortageBytes;
  return a.miss.shortageBytes < b.miss.shortageBytes;
}

/** The missing bytes of the node for all claims. Findings about claims that do not fit together have the same margin, which counts once. */
function sumOf(misses: readonly Miss[]): number {
  let [sum, together] = [0, 0];
  for (const { finding, shortageBytes } of misses) {
    if (finding.reason === 'CapacityNotTogether') together = Math.max(together, shortageBytes);
    else sum += shortageBytes;
  }
  return sum + together;
}

function leastOf(misses: readonly Miss[]): Miss | undefined {
  let least: Miss | undefined;
  for (const miss of misses)
    if (least === undefined || miss.shortageBytes < least.shortageBytes) least = miss;
  return least;
}

/** A candidate that lacks only bytes is close. For the others, the reason of the finding says more than a single candidate. */
function missOf(node: string, finding: Finding): Miss {
  const itself = { node, finding, candidate: undefined, obstacle: undefined };
  const { margin } = finding;
  // Each claim alone fits the candidates: how much they lack together is known for the node.
  if (finding.reason === 'CapacityNotTogether' && margin?.unit === 'bytes') {
    const [candidate] = finding.candidates;
    const [obstacle] = candidate?.obstacles ?? [];
    return { node, finding, candidate, obstacle, margin, shortageBytes: shortageOf(margin) };
  }
  const close = finding.candidates.map((candidate): Miss => {
    const [obstacle] = candidate.obstacles;
    // Every obstacle has to be resolved, so the largest counts.
    const shortageBytes = Math.max(...candidate.obstacles.map(shortageOfObstacle));
    return { node, finding, candidate, obstacle, margin: obstacle?.margin, shortageBytes };
  });
  const none = { ...itself, margin: undefined, shortageBytes: Number.POSITIVE_INFINITY };
  return leastOf([none, ...close]) ?? none;
}

function shortageOfObstacle({ code, margin }: Obstacle): number {
  // It fits, but another claim of the pod or of the same owner uses it.
  if (code === 'TakenBySibling' || code === 'SameOwner') return Number.MAX_SAFE_INTEGER;
  return margin === undefined ? Number.POSITIVE_INFINITY : shortageOf(margin);
}

function shortageOf({ needed, free, promised }: ByteMargin): number {
  return needed.bytes - (free.bytes - promised.bytes);
}

function phraseOf({ finding, candidate, obstacle, margin }: Miss): string {
  const claim = finding.claim === undefined ? '' : subjectOf(finding.claim);
  const thing = candidate === undefined ? '' : `${candidate.kind} ${candidate.name}`;
  const subject = [claim, thing].filter((part) => part !== '').join(', ');
  const text =
    obstacle === undefined
      ? nodeReasons[finding.reason].sentence
      : (obstacle.detail ?? obstacles[obstacle.code]);
  const isTogether = finding.reason === 'CapacityNotTogether';
  const numbers = margin === undefined ? '' : ` (${marginText(margin, isTogether)})`;
  return `${subject === '' ? '' : `${subject}: `}${text}${numbers}`;
}

/** An inline volume is not a claim: its key is `namespace/pod:volume`, and no name of a claim has a colon. */
function subjectOf(key: string): string {
  const at = key.indexOf(':');
  return at < 0 ? `claim ${key}` : `inline volume ${key.slice(at + 1)}`;
}

function marginText({ needed, free, promised }: ByteMargin, isTogether: boolean): string {
  const promises =
    promised.bytes === 0 ? '' : `, of which ${sizeText(promised)} is promised to other volumes`;
  const [needs, has] = isTogether ? ['together they need', 'and it has'] : ['needs', 'has'];
  return `${needs} ${sizeText(needed)}, ${has} ${sizeText(free)}${promises}`;
}

function sizeText({ bytes }: Size): string {
  return canonicalQuantity(quantityFromBytes(Math.round(bytes)));
}

function* take<T>(items: Iterable<T>, count: number): Iterable<T> {
  let taken = 0;
  for (const item of items) {
    if (taken++ >= count) return;
    yield item;
  }
}

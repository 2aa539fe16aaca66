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

/** Looking closely costs more than deciding: a few nodes are enough to show what kind of trouble it is. */
const nodesMax = 8;

/**
 * What came closest to serving the pod's volumes, in a sentence for people, such as
 * `Closest is node n1: claim default/data, volume d1: it is smaller than the request (needs 5Gi, has 4Gi).`
 * Undefined where it wasn't volumes that kept the pod from its nodes.
 */
export function closestMiss(refusal: Refusal): string | undefined {
  if (!refusal.namesClosest) return undefined;
  const nodes = [...take(refusal.nodesRefusedBy('VolumeBinding'), nodesMax)];
  if (nodes.length === 0) return undefined;
  const closest = closestOf(refusal.explain(nodes).nodes);
  return closest && `Closest is node ${closest.node}: ${phraseOf(closest)}.`;
}

/** The same about one node, as a phrase: `claim default/data, volume d1: it is smaller than the request (needs 5Gi, has 4Gi)`. */
export function closestMissOn(node: NodeExplanation): string | undefined {
  const closest = closestOf([node]);
  return closest && phraseOf(closest);
}

function closestOf(nodes: readonly NodeExplanation[]): Miss | undefined {
  let closest: Miss | undefined;
  for (const { node, findings } of nodes) {
    for (const finding of findings) {
      if (finding.rule !== 'VolumeBinding') continue;
      for (const miss of missesOf(node, finding)) {
        if (closest === undefined || miss.shortageBytes < closest.shortageBytes) closest = miss;
      }
    }
  }
  return closest;
}

interface Miss {
  readonly node: string;
  readonly finding: Finding;
  readonly candidate: StorageCandidate | undefined;
  readonly obstacle: Obstacle | undefined;
  /** Infinite where it isn't bytes that are short. */
  readonly shortageBytes: number;
}

/** What lacks nothing but bytes is close; of the rest, why it is refused says more than which of them is looked at. */
function missesOf(node: string, finding: Finding): Miss[] {
  const itself = {
    node,
    finding,
    candidate: undefined,
    obstacle: undefined,
    shortageBytes: Number.POSITIVE_INFINITY,
  };
  const close = finding.candidates.map((candidate) => {
    const [obstacle] = candidate.obstacles;
    // All of them have to give way.
    const shortageBytes = Math.max(...candidate.obstacles.map(shortageOf));
    return { node, finding, candidate, obstacle, shortageBytes };
  });
  return [itself, ...close];
}

function shortageOf({ code, margin }: Obstacle): number {
  // It would do, if it were only there twice.
  if (code === 'TakenBySibling') return Number.MAX_SAFE_INTEGER;
  if (margin === undefined) return Number.POSITIVE_INFINITY;
  return margin.needed.bytes - (margin.free.bytes - margin.promised.bytes);
}

function phraseOf({ finding, candidate, obstacle }: Miss): string {
  const claim = finding.claim === undefined ? '' : `claim ${finding.claim}`;
  const thing = candidate === undefined ? '' : `${candidate.kind} ${candidate.name}`;
  const subject = [claim, thing].filter((word) => word !== '').join(', ');
  const text = obstacle === undefined ? nodeReasons[finding.reason].sentence : obstacles[obstacle.code];
  const numbers = obstacle?.margin === undefined ? '' : ` (${marginText(obstacle.margin)})`;
  return `${subject === '' ? '' : `${subject}: `}${text}${numbers}`;
}

function marginText({ needed, free, promised }: ByteMargin): string {
  const promises = promised.bytes === 0 ? '' : `, of which ${sizeText(promised)} are promised`;
  return `needs ${sizeText(needed)}, has ${sizeText(free)}${promises}`;
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

import { bytesText, isCountedInBytes, type Rounding } from '../../kube/quantities/amount-text.ts';
import { parseQuantity, quantityToNano } from '../../kube/quantities/quantity.ts';
import type { CandidateLine, NodeReasonLine, ObstacleLine, RangeLine } from './explanation.ts';
import { namesText } from './names-text.ts';

const claimsShownMax = 2;

/**
 * Why nodes refuse the pod, with the numbers: `Insufficient cpu (needs 4, free 1.2 to 3.1)`. Claims with the same reason share one text.
 */
export function nodeReasonTexts(reasons: readonly NodeReasonLine[]): readonly string[] {
  const texts = new Map<string, { readonly line: NodeReasonLine; readonly claims: string[] }>();
  for (const line of reasons) {
    const key = `${wordsOf(line)} ${moreOf(line)}`;
    const known = texts.get(key) ?? { line, claims: [] };
    texts.set(key, known);
    if (line.claim !== undefined) known.claims.push(line.claim);
  }
  return [...texts.values()].map(({ line, claims }) => {
    const about = claims.length === 0 ? '' : ` [${namesText(claims, claims.length, claimsShownMax)}]`;
    return `${wordsOf(line)}${about}${moreOf(line)}`;
  });
}

/** Kubernetes' own text if it is short and well known. */
function wordsOf({ reason, upstream, sentence }: NodeReasonLine): string {
  return /^(Insufficient|TooMany)/.test(reason) ? upstream : sentence;
}

function moreOf({ detail = '', range }: NodeReasonLine): string {
  const more = [detail, range === undefined ? '' : rangeText(range)].filter((text) => text !== '');
  return more.length === 0 ? '' : ` (${more.join('; ')})`;
}

function rangeText({ of, needed, freeLeast, freeMost }: RangeLine): string {
  const has = (quantity: string) => humanAmount(of, quantity, 'down');
  const needs = humanAmount(of, needed, 'up');
  if (of.startsWith('skew over ')) return `${of}: would be ${needs}, may be ${has(freeMost)}`;
  const free = freeLeast === freeMost ? has(freeLeast) : `${has(freeLeast)} to ${has(freeMost)}`;
  return of === 'pods' ? `free ${free}` : `needs ${needs}, free ${free}`;
}

/** The obstacles of a volume, pool or drive: `volume pv-7: 40Gi < 50Gi`, `drive n1-b7f6: 40Gi free, 50Gi asked`. */
export function candidateText({ kind, name, node, obstacles }: CandidateLine): string {
  const isFull = obstacles.some(({ code }) => code === 'InsufficientCapacity');
  // A pool without free capacity fails both tests; one text is enough.
  const shown = obstacles.filter(({ code }) => !isFull || code !== 'VolumeTooLarge');
  const text = kind === 'drive' ? driveObstacleText : obstacleText;
  const stopped = shown.map(text).join('; ') || 'would do by itself';
  return `${kind} ${name}: ${stopped}${node === undefined ? '' : ` (seen from ${node})`}`;
}

function driveObstacleText(line: ObstacleLine): string {
  const { code, needed, free, promised } = line;
  if (code !== 'InsufficientCapacity' || needed === undefined || free === undefined)
    return obstacleText(line);
  const part = promised === undefined ? '' : `, ${humanAmount('storage', promised, 'up')} of it promised`;
  return `${humanAmount('storage', free, 'down')} free${part}, ${humanAmount('storage', needed, 'up')} asked`;
}

function obstacleText({ code, sentence, needed, free, promised }: ObstacleLine): string {
  if (needed === undefined || free === undefined) return sentence;
  const has = humanAmount('storage', free, 'down');
  const needs = humanAmount('storage', needed, 'up');
  switch (code) {
    case 'TooSmall':
      return `${has} < ${needs}`;
    case 'VolumeTooLarge':
      return `its largest volume ${has} < ${needs}`;
    case 'InsufficientCapacity': {
      const taken = promised === undefined ? '' : `, ${humanAmount('storage', promised, 'up')} promised`;
      return `${has} free${taken}, needs ${needs}`;
    }
    case 'GrowthReserve':
      return `${sentence}, which leaves ${has}; needs ${needs}`;
    default:
      return sentence;
  }
}

/**
 * A quantity for users: cores, and bytes in the largest unit. Needed amounts are rounded up and available amounts down, so that too little
 * never looks like enough.
 */
function humanAmount(of: string, quantity: string, rounding: Rounding): string {
  const parsed = parseQuantity(quantity);
  if (!parsed.ok) return quantity;
  const amount = Number(quantityToNano(parsed.quantity)) / 1e9;
  return of === 'storage' || isCountedInBytes(of)
    ? bytesText(amount, rounding)
    : String(Math.round(amount * 1000) / 1000);
}

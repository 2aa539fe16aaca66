import { bytesText, isCountedInBytes } from '../../engine/explain/remedies/amount-text.ts';
import { parseQuantity, quantityToNano } from '../../kube/quantity.ts';
import type { CandidateLine, NodeReasonLine, ObstacleLine, RangeLine } from './explanation.ts';

/** Why nodes refuse the pod, with the numbers: `Insufficient cpu (needs 4, free 1.2 to 3.1)`. */
export function nodeReasonText({ sentence, upstream, reason, claim, detail, range }: NodeReasonLine): string {
  // Kubernetes' words where they are short and everybody knows them.
  const words = /^(Insufficient|TooMany)/.test(reason) ? upstream : sentence;
  const about = claim === undefined ? '' : ` [${claim}]`;
  const more = [detail ?? '', range === undefined ? '' : rangeText(range)].filter((text) => text !== '');
  return `${words}${about}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
}

function rangeText({ of, needed, freeLeast, freeMost }: RangeLine): string {
  const text = (quantity: string) => humanAmount(of, quantity);
  if (of.startsWith('skew over ')) return `${of}: would be ${text(needed)}, may be ${text(freeMost)}`;
  const free = freeLeast === freeMost ? text(freeLeast) : `${text(freeLeast)} to ${text(freeMost)}`;
  return of === 'pods' ? `free ${free}` : `needs ${text(needed)}, free ${free}`;
}

/** What stopped a volume or pool: `volume pv-7: 40Gi < 50Gi`. */
export function candidateText({ kind, name, node, obstacles }: CandidateLine): string {
  const isFull = obstacles.some(({ code }) => code === 'NoRoom');
  // A pool without room makes no such volume either; once is enough.
  const told = obstacles.filter(({ code }) => !isFull || code !== 'VolumeTooLarge');
  const stopped = told.map(obstacleText).join('; ') || 'would do by itself';
  return `${kind} ${name}: ${stopped}${node === undefined ? '' : ` (seen from ${node})`}`;
}

function obstacleText({ code, sentence, needed, free, promised }: ObstacleLine): string {
  if (needed === undefined || free === undefined) return sentence;
  const text = (quantity: string) => humanAmount('storage', quantity);
  switch (code) {
    case 'TooSmall':
      return `${text(free)} < ${text(needed)}`;
    case 'VolumeTooLarge':
      return `its largest volume ${text(free)} < ${text(needed)}`;
    case 'NoRoom': {
      const taken = promised === undefined ? '' : `, ${text(promised)} promised`;
      return `${text(free)} free${taken}, needs ${text(needed)}`;
    }
    default:
      return sentence;
  }
}

/** A quantity as people say it: cores, and bytes in the largest unit. */
function humanAmount(of: string, quantity: string): string {
  const parsed = parseQuantity(quantity);
  if (!parsed.ok) return quantity;
  const amount = Number(quantityToNano(parsed.quantity)) / 1e9;
  return of === 'storage' || isCountedInBytes(of)
    ? bytesText(amount)
    : String(Math.round(amount * 1000) / 1000);
}

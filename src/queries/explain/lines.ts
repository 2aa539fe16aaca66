import type { ObjectWarning } from '../../engine/cluster-index/cluster-change.ts';
import type { GroupReason, MarginRange, NodeGroup } from '../../engine/explain/node-groups.ts';
import { type Remedy, remedyCost } from '../../engine/remedies/remedy-collection.ts';
import { remedyText, stepText } from '../../engine/remedies/step-text.ts';
import { type Obstacle, obstacles, type StorageCandidate } from '../../engine/rules/framework/finding.ts';
import type { PodRefusal } from '../../engine/rules/framework/rule.ts';
import { nodeReasons, podReasons } from '../../engine/rules/reasons.ts';
import type { Event } from '../../kube/api/core.ts';
import { isCountedInBytes } from '../../kube/quantities/amount-text.ts';
import { canonicalQuantity, parseQuantity, quantityFromBytes } from '../../kube/quantities/quantity.ts';
import type { Note } from '../view/note.ts';
import type {
  CandidateLine,
  EventLine,
  NodeGroupLine,
  NodeReasonLine,
  ObstacleLine,
  PodReasonLine,
  RangeLine,
  RemedyLine,
} from './explanation.ts';

/* Turns the engine's findings into text: names, quantities and sentences instead of records and numbers. */

/** A longer list of names is not useful to users. */
const nodesShownMax = 50;
const eventsShownMax = 5;
const noticesShownMax = 5;

export function groupLine({ nodes, reasons }: NodeGroup): NodeGroupLine {
  return { count: nodes.length, nodes: nodes.slice(0, nodesShownMax), reasons: reasons.map(reasonLine) };
}

function reasonLine({ rule, reason, claim, detail, range }: GroupReason): NodeReasonLine {
  const { sentence, upstream, remedy } = nodeReasons[reason];
  return {
    rule,
    reason,
    sentence,
    remedy,
    upstream: upstream.replace(/\{\w+\}/, () => range?.of ?? detail),
    claim,
    detail: detail === '' ? undefined : detail,
    range: range && rangeLine(range),
  };
}

function rangeLine({ unit, of, needed, freeLeast, freeMost }: MarginRange): RangeLine {
  const isBytes = unit === 'bytes' || (unit === 'resource' && isCountedInBytes(of));
  const text = (amount: number) => (isBytes ? bytesQuantity(amount) : numberQuantity(amount));
  return {
    of: unit === 'bytes' ? 'storage' : of,
    needed: text(needed),
    freeLeast: text(freeLeast),
    freeMost: text(freeMost),
  };
}

export function candidateLine(candidate: StorageCandidate, node?: string): CandidateLine {
  return {
    kind: candidate.kind,
    name: candidate.name,
    node,
    obstacles: candidate.obstacles.map(obstacleLine),
  };
}

function obstacleLine({ code, margin, detail }: Obstacle): ObstacleLine {
  const sentence = detail ?? obstacles[code];
  if (margin === undefined) return { code, sentence };
  const { needed, free, promised } = margin;
  return {
    code,
    sentence,
    needed: bytesQuantity(needed.bytes),
    free: bytesQuantity(free.bytes),
    promised: promised.bytes === 0 ? undefined : bytesQuantity(promised.bytes),
  };
}

export function podReasonLine({ reason, claim, message }: PodRefusal): PodReasonLine {
  const { sentence, remedy } = podReasons[reason];
  return { reason, sentence, remedy, claim, message };
}

export function remedyLine(remedy: Remedy): RemedyLine {
  const { node, steps } = remedy;
  return {
    text: remedyText(remedy),
    cost: remedyCost(remedy),
    node,
    steps: steps.map((step) => {
      const { action, object, amount, unit, names } = step;
      return { action, text: stepText(step, node), object, amount, unit, names };
    }),
  };
}

/** The events of one object, newest first. */
export function eventLines(
  events: readonly Event[],
  about: { readonly kind: string; readonly namespace: string; readonly name: string },
): readonly EventLine[] {
  return events
    .filter(({ involvedObject: object }) => {
      return (
        object?.kind === about.kind && object.name === about.name && object.namespace === about.namespace
      );
    })
    .map(eventLine)
    .sort((a, b) => ((a.lastSeen ?? '') < (b.lastSeen ?? '') ? 1 : -1))
    .slice(0, eventsShownMax);
}

/** When the event was last observed. */
export function lastSeenOf({ series, lastTimestamp, eventTime }: Event): string | undefined {
  return series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? undefined;
}

function eventLine(event: Event): EventLine {
  const { type, reason, message, count, series } = event;
  return {
    type: type ?? 'Normal',
    reason: reason ?? '',
    message: message ?? '',
    count: series?.count ?? count ?? 1,
    lastSeen: lastSeenOf(event),
  };
}

export function noticeNotes(notices: readonly ObjectWarning[]): readonly Note[] {
  const shown = notices
    .slice(0, noticesShownMax)
    .map(({ kind, key, problem }): Note => ({ about: 'unreadable', text: `${kind} ${key}: ${problem}` }));
  const more = notices.length - shown.length;
  return more > 0
    ? [...shown, { about: 'unreadable', text: `and ${more} more fields that cannot be read` }]
    : shown;
}

function bytesQuantity(bytes: number): string {
  const whole = Math.round(bytes);
  return canonicalQuantity(quantityFromBytes(Number.isSafeInteger(whole) ? whole : BigInt(whole)));
}

/** Cores and counts; fractions become milli-units, as kubectl shows them. */
function numberQuantity(amount: number): string {
  const parsed = parseQuantity(String(amount));
  return parsed.ok ? canonicalQuantity(parsed.quantity) : String(amount);
}

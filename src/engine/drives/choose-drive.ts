import type { DriveIndex, IndexedDrive } from './drive-index.ts';
import type { DriveList } from './drive-list.ts';
import { type DriveRefusal, refuseDrive } from './drive-refusal.ts';
import { allTerms, type DriveRequirements, type TopologyTerm, termGroups } from './drive-requirements.ts';
import { obstacleOn } from './drive-rule.ts';

/** Draws among equal drives before all of them are listed. With one topology segment and no labels, the first draw succeeds. */
const drawsMax = 32;

/** Randomness: a uniform integer from 0 to below the bound. */
export interface TieBreaker {
  int(maxExclusive: number): number;
}

export type DriveChoice = { readonly kind: 'drive'; readonly drive: IndexedDrive } | DriveRefusal;

/**
 * Chooses the drive of a new volume: of the drives that have the capacity, the access tier, the labels and the topology, one that has the
 * most free bytes; of equal ones each is as likely. Preferred topology terms are tried in order, then the requisite ones together.
 *
 * The caller first makes sure that no drive has the volume already, and writes the entry afterwards.
 */
export function chooseDrive(
  index: DriveIndex,
  requirements: DriveRequirements,
  tieBreaker: TieBreaker,
): DriveChoice {
  const chosen = requirements.chosenDrive === undefined ? undefined : index.get(requirements.chosenDrive);
  if (chosen !== undefined && fitsOn(chosen, requirements)) return { kind: 'drive', drive: chosen };
  for (const terms of termGroups(requirements)) {
    const drive = mostFree(index, requirements, terms, tieBreaker);
    if (drive !== undefined) return { kind: 'drive', drive };
  }
  return refuseDrive(index, requirements);
}

/** Whether the volume may be put on this drive. */
export function fitsOn(drive: IndexedDrive, requirements: DriveRequirements): boolean {
  const terms = allTerms(requirements);
  return (terms.length === 0 ? [anywhere] : terms).some((term) => matches(drive, requirements, term));
}

const anywhere: TopologyTerm = {};

/** The drives of one term that have the most free bytes, and perhaps others with as many that do not match. */
interface Top {
  readonly term: TopologyTerm;
  readonly list: DriveList<IndexedDrive>;
  readonly freeBytes: number;
  readonly start: number;
  readonly end: number;
}

function mostFree(
  index: DriveIndex,
  requirements: DriveRequirements,
  terms: readonly TopologyTerm[],
  tieBreaker: TieBreaker,
): IndexedDrive | undefined {
  const tops = terms.flatMap((term) => topOf(index, requirements, term) ?? []);
  if (tops.length === 0) return undefined;
  const most = tops.reduce((max, { freeBytes }) => Math.max(max, freeBytes), 0);
  const best = tops.filter(({ freeBytes }) => freeBytes === most);
  return breakTie(best, requirements, tieBreaker) ?? pickOfAll(best, requirements, tieBreaker);
}

function topOf(index: DriveIndex, requirements: DriveRequirements, term: TopologyTerm): Top | undefined {
  const list = index.shortestList(requirements, term);
  for (let at = list.length - 1; at >= 0; at -= 1) {
    const drive = list.at(at);
    if (drive.freeBytes < requirements.bytes) return undefined;
    if (!matches(drive, requirements, term)) continue;
    // Drives behind this one have as many bytes, and do not match.
    return { term, list, freeBytes: drive.freeBytes, start: list.firstWith(drive.freeBytes), end: at + 1 };
  }
  return undefined;
}

function matches(drive: IndexedDrive, requirements: DriveRequirements, term: TopologyTerm): boolean {
  return (
    drive.isOfKind(requirements) &&
    drive.isIn(term) &&
    obstacleOn(drive, requirements.bytes, requirements) === undefined
  );
}

/**
 * Draws until a drive matches: each matching drive is as likely. A drive in several terms would be drawn more often, so it is accepted only
 * once in as many times.
 */
function breakTie(
  tops: readonly Top[],
  requirements: DriveRequirements,
  tieBreaker: TieBreaker,
): IndexedDrive | undefined {
  const total = tops.reduce((sum, { start, end }) => sum + end - start, 0);
  for (let draws = 0; draws < drawsMax; draws += 1) {
    const { drive, term } = drawn(tops, tieBreaker.int(total));
    if (!matches(drive, requirements, term)) continue;
    const terms = tops.length === 1 ? 1 : tops.filter((top) => drive.isIn(top.term)).length;
    if (terms === 1 || tieBreaker.int(terms) === 0) return drive;
  }
  return undefined;
}

function drawn(tops: readonly Top[], at: number) {
  let left = at;
  for (const { list, start, end, term } of tops) {
    if (left < end - start) return { drive: list.at(start + left), term };
    left -= end - start;
  }
  throw new RangeError('the tie breaker returned a rank outside of the lists');
}

function pickOfAll(
  tops: readonly Top[],
  requirements: DriveRequirements,
  tieBreaker: TieBreaker,
): IndexedDrive | undefined {
  const found = new Set<IndexedDrive>();
  for (const { list, start, end, term } of tops) {
    for (let at = start; at < end; at += 1)
      if (matches(list.at(at), requirements, term)) found.add(list.at(at));
  }
  return [...found][tieBreaker.int(found.size)];
}

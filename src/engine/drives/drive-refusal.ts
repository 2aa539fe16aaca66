import { quantityOfBytes } from '../../kube/quantities/bytes.ts';
import type { DriveIndex, IndexedDrive } from './drive-index.ts';
import type { DriveList } from './drive-list.ts';
import { driveExclusions } from './drive-record.ts';
import { allTerms, type DriveRequirements, type TopologyTerm } from './drive-requirements.ts';
import { compareFreeBytes, type DriveObstacle, growthReserveBytes, obstacleOn } from './drive-rule.ts';

/** A refusal names this many drives of each sort. */
const namedMax = 3;
/** A refusal checks this many terms: a class may allow thousands of nodes. */
const termsMax = 100;
/** A refusal checks this many drives of one list. */
const checkedMax = 200;

/** No drive takes the volume. */
export interface DriveRefusal {
  readonly kind: 'refused';
  readonly requirements: DriveRequirements;
  /** Drives that lack only bytes, the closest first. */
  readonly closest: readonly CloseDrive[];
  /** Drives that already have a volume of the same group. */
  readonly spread: readonly string[];
  /** Drives that meet the requirements, but take no new volumes. */
  readonly excluded: readonly IndexedDrive[];
  /** The number of drives of any kind. */
  readonly drives: number;
}

export interface CloseDrive {
  readonly drive: string;
  readonly freeBytes: number;
  /** The part of `freeBytes` that is kept for the growth of volumes. */
  readonly reservedBytes: number;
  readonly missingBytes: number;
}

/** Called after no drive was found. The work is bounded: refused pods ask again and again. */
export function refuseDrive(index: DriveIndex, requirements: DriveRequirements): DriveRefusal {
  const terms = termsOf(requirements).slice(0, termsMax);
  const listed = mostFreeOf(terms, (term) =>
    firstMatching(index.shortestList(requirements, term), requirements, term),
  );
  const withObstacle = (obstacle: DriveObstacle) =>
    listed
      .filter((drive) => obstacleOn(drive, requirements.bytes, requirements) === obstacle)
      .slice(0, namedMax);
  const excluded = mostFreeOf(terms, (term) =>
    firstMatching(index.shortestExcludedList(requirements, term), requirements, term),
  );
  return {
    kind: 'refused',
    requirements,
    closest: withObstacle('TooFewBytes').map((drive) => closeDrive(drive, requirements)),
    spread: withObstacle('SameGroup').map(({ name }) => name),
    excluded: excluded.filter(({ freeBytes }) => freeBytes >= requirements.bytes).slice(0, namedMax),
    drives: index.size,
  };
}

function closeDrive({ name, freeBytes, record }: IndexedDrive, requirements: DriveRequirements): CloseDrive {
  const reservedBytes = growthReserveBytes(record.capacityBytes, requirements.growthReservePercent);
  return {
    drive: name,
    freeBytes,
    reservedBytes,
    missingBytes: requirements.bytes + reservedBytes - freeBytes,
  };
}

/** One sentence: what was asked, and which drives came closest. */
export function driveRefusalText({ requirements, closest, spread, excluded, drives }: DriveRefusal): string {
  const asked = quantityOfBytes(requirements.bytes);
  const wanted = wantedText(requirements);
  if (drives === 0) return 'there are no drives; register one as a Drive object';
  const parts = [
    ...closest.map(
      ({ drive, freeBytes, reservedBytes, missingBytes }) =>
        `drive ${drive}: ${quantityOfBytes(freeBytes)} free${reservedText(reservedBytes)}, ${asked} asked, ${quantityOfBytes(missingBytes)} missing`,
    ),
    ...spread.map((drive) => `drive ${drive} has a volume of ${requirements.spreadGroup} already`),
    ...excluded.map(({ name, record }) => `drive ${name} ${driveExclusions[record.exclusion ?? 'NotReady']}`),
  ];
  const head = `no drive${wanted} takes a volume of ${asked}`;
  return parts.length === 0 ? `${head}: of ${drives} drives none matches` : `${head}: ${parts.join('; ')}`;
}

function reservedText(bytes: number): string {
  return bytes === 0 ? '' : `, of which ${quantityOfBytes(bytes)} are kept for growth`;
}

function wantedText(requirements: DriveRequirements): string {
  const tier = requirements.tier === undefined ? [] : [` of access tier ${requirements.tier}`];
  const labels = pairsText(requirements.labels);
  const terms = allTerms(requirements);
  const names = [...new Set(terms.map(pairsText))];
  const more = names.length > namedMax ? ` or ${names.length - namedMax} more` : '';
  return [
    ...tier,
    labels === '' ? '' : ` with labels ${labels}`,
    names.length === 0 ? '' : ` in ${names.slice(0, namedMax).join(' or ')}${more}`,
  ].join('');
}

function pairsText(pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

function termsOf(requirements: DriveRequirements): readonly TopologyTerm[] {
  const terms = allTerms(requirements);
  return terms.length === 0 ? [{}] : terms;
}

function mostFreeOf(
  terms: readonly TopologyTerm[],
  find: (term: TopologyTerm) => readonly IndexedDrive[],
): readonly IndexedDrive[] {
  const found = new Set(terms.flatMap((term) => find(term)));
  return [...found].sort((a, b) => compareFreeBytes(a.freeBytes, b.freeBytes) || a.order - b.order);
}

/** The first of the drives with the most free bytes; enough of them to name some of each sort. */
function firstMatching(
  list: DriveList<IndexedDrive>,
  requirements: DriveRequirements,
  term: TopologyTerm,
): readonly IndexedDrive[] {
  const found: IndexedDrive[] = [];
  const last = Math.max(0, list.length - checkedMax);
  for (let at = list.length - 1; at >= last && found.length < 3 * namedMax; at -= 1) {
    const drive = list.at(at);
    if (drive.isOfKind(requirements) && drive.isIn(term)) found.push(drive);
  }
  return found;
}

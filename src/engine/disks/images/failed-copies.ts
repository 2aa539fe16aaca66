import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { DiskIndex } from '../disk-index.ts';
import { copyBytes } from './may-make-copy.ts';

/** The annotation of a BackingImage that names the disks where a copy failed, with the time, the number of failures and the last error. */
export const failedCopiesKey = 'stowage.dev/failed-copies';

/** The time after the first failure; it doubles with each further one. */
const firstDelayMs = 30_000;
const delayMaxMs = 10 * 60_000;
/** After this time a failure is forgotten. */
const rememberMs = 60 * 60_000;
/** The most characters of a message that are kept. */
const messageMax = 300;

type FailingImage = Pick<BackingImage, 'metadata' | 'spec' | 'status'>;

interface CopyFailure {
  readonly at: number;
  readonly count: number;
  readonly message: string;
  /** Bytes that the copy requested; left out if no size was known. */
  readonly bytes?: number | undefined;
}

export interface FailedCopies {
  /** Disks that may not be tried again yet. */
  readonly failedOn: ReadonlySet<string>;
  /** No copy is ready, so the source may be the cause of the failures: no disk may be tried yet. */
  readonly isSourceFailing: boolean;
  /** When the next disk may be tried again. */
  readonly retryAfterMs: number | undefined;
  /** The last error. */
  readonly message: string | undefined;
}

export function failedCopies(
  image: FailingImage,
  disks: Pick<DiskIndex, 'get'>,
  nowMs: number,
): FailedCopies {
  const failures = Object.entries(failuresOf(image, nowMs));
  const remaining = failures.map(([uuid, { at, count }]) => [uuid, at + delayMs(count) - nowMs] as const);
  const open = remaining.filter(([, ms]) => ms > 0);
  const hasReadyCopy = Object.values(image.status?.diskFileStatusMap ?? {}).some(
    ({ state }) => state === 'ready',
  );
  const total = failures.reduce((sum, [, { count }]) => sum + count, 0);
  const lastAt = Math.max(...failures.map(([, { at }]) => at));
  const sourceMs = hasReadyCopy || failures.length === 0 ? 0 : lastAt + delayMs(total) - nowMs;
  const delays = [...open.map(([, ms]) => ms), ...(sourceMs > 0 ? [sourceMs] : [])];
  const last = failures.find(([, { at }]) => at === lastAt);
  return {
    failedOn: new Set(open.map(([uuid]) => uuid)),
    isSourceFailing: sourceMs > 0,
    retryAfterMs: delays.length === 0 ? undefined : Math.min(...delays),
    message: last === undefined ? undefined : failureText(last, disks),
  };
}

/** The annotation after copies on these disks have failed. Old failures are left out. */
export function withFailures(image: FailingImage, uuids: readonly string[], nowMs: number): string {
  const before = failuresOf(image, nowMs);
  const now = uuids.map((uuid): readonly [string, CopyFailure] => {
    const { message = '' } = image.status?.diskFileStatusMap?.[uuid] ?? {};
    const count = (before[uuid]?.count ?? 0) + 1;
    return [uuid, { at: nowMs, count, message: message.slice(0, messageMax), bytes: copyBytes(image) }];
  });
  return JSON.stringify({ ...before, ...Object.fromEntries(now) });
}

function delayMs(count: number): number {
  return Math.min(delayMaxMs, firstDelayMs * 2 ** (count - 1));
}

function failureText(
  [uuid, { message }]: readonly [string, CopyFailure],
  disks: Pick<DiskIndex, 'get'>,
): string {
  const disk = disks.get(uuid);
  const where = disk === undefined ? `disk ${uuid}` : `disk ${disk.name} on node ${disk.nodeName}`;
  return `the copy on ${where} failed${message === '' ? '' : `: ${message}`}`;
}

/**
 * Users may have edited the annotation: values that are not failures are ignored. So is a failure with another size: if a user sets or raises
 * `spec.expectedSize`, as the message may ask for, the copy is tried without a delay.
 */
function failuresOf(image: FailingImage, nowMs: number): Readonly<Record<string, CopyFailure>> {
  try {
    const parsed: unknown = JSON.parse(image.metadata?.annotations?.[failedCopiesKey] ?? '{}');
    if (typeof parsed !== 'object' || parsed === null) return {};
    const bytes = copyBytes(image);
    const failures = Object.entries(parsed).filter(
      ([, value]) => isFailure(value) && value.bytes === bytes && nowMs - value.at < rememberMs,
    );
    return Object.fromEntries(failures);
  } catch {
    return {};
  }
}

function isFailure(value: unknown): value is CopyFailure {
  if (typeof value !== 'object' || value === null) return false;
  const { at, count, message } = value as Partial<CopyFailure>;
  return typeof at === 'number' && typeof count === 'number' && count >= 1 && typeof message === 'string';
}

import type { KubeObject } from '../../kube/api/meta.ts';
import type { DiskIndex } from './disk-index.ts';

/** The annotation of a Replica that names the disks that rejected it, with the time and the bytes that they had granted then. */
export const rejectedDisksKey = 'stowage.dev/rejected-disks';

/** After this time a disk is tried again. */
const rememberMs = 5 * 60_000;

interface Rejection {
  readonly at: number;
  readonly granted: number;
}

/** The disks that would reject another request: they rejected one a short while ago, and have released no bytes since. */
export function rejectedDisks(
  replica: KubeObject,
  disks: Pick<DiskIndex, 'get'>,
  nowMs: number,
): ReadonlySet<string> {
  const still = Object.entries(rejectionsOf(replica)).filter(
    ([uuid, { at, granted }]) => nowMs - at < rememberMs && (disks.get(uuid)?.grantedBytes ?? 0) >= granted,
  );
  return new Set(still.map(([uuid]) => uuid));
}

/** The annotation after a rejection by one more disk. Old rejections are left out. */
export function withRejection(
  replica: KubeObject,
  uuid: string,
  disks: Pick<DiskIndex, 'get'>,
  nowMs: number,
): string {
  const recent = Object.entries(rejectionsOf(replica)).filter(([, { at }]) => nowMs - at < rememberMs);
  const granted = disks.get(uuid)?.grantedBytes ?? 0;
  return JSON.stringify({ ...Object.fromEntries(recent), [uuid]: { at: nowMs, granted } });
}

/** Users may have edited the annotation: values that are not rejections are ignored. */
function rejectionsOf({ metadata }: KubeObject): Readonly<Record<string, Rejection>> {
  try {
    const parsed: unknown = JSON.parse(metadata?.annotations?.[rejectedDisksKey] ?? '{}');
    if (typeof parsed !== 'object' || parsed === null) return {};
    return Object.fromEntries(Object.entries(parsed).filter(([, value]) => isRejection(value)));
  } catch {
    return {};
  }
}

function isRejection(value: unknown): value is Rejection {
  if (typeof value !== 'object' || value === null) return false;
  const { at, granted } = value as Partial<Rejection>;
  return typeof at === 'number' && typeof granted === 'number';
}

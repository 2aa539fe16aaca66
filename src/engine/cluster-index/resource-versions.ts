import type { IndexedKind, RecordOf } from './cluster-change.ts';

/**
 * Compares two resource versions. Kubernetes asks clients to treat them as opaque, but in every known API server they are decimal
 * counters. So two counters are ordered, and anything else has no order.
 */
export function isOlderVersion(version: string, than: string): boolean {
  if (!isCounter(version) || !isCounter(than)) return false;
  if (version.length !== than.length) return version.length < than.length;
  return version < than;
}

function isCounter(version: string): boolean {
  if (version === '' || version.length > counterLengthMax || version.charCodeAt(0) === zero) return false;
  for (let position = 0; position < version.length; position++) {
    const code = version.charCodeAt(position);
    if (code < zero || code > nine) return false;
  }
  return true;
}

const zero = 48;
const nine = 57;
/** A 64-bit number has at most twenty digits. */
const counterLengthMax = 20;

/** Objects from files have no version and always count as newer. */
export function isNewer(before: RecordOf[IndexedKind], after: RecordOf[IndexedKind]): boolean {
  if (after.version === '' || before.version === '') return true;
  if (before.version === after.version) return false;
  const isSameObject = !('uid' in before) || !('uid' in after) || before.uid === after.uid;
  return !(isSameObject && isOlderVersion(after.version, before.version));
}

/**
 * Resource versions are decimal counters in every API server that we know, though clients are asked to treat them as
 * opaque. So: an order where both are counters, and none where they aren't.
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

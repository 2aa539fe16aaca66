import { parseGoDuration } from '../../../kube/go/duration.ts';
import { parseCelTimestamp } from '../values/times.ts';
import { CelTimestamp, type Value } from '../values/values.ts';

const second = 1_000_000_000n;

/** Names of units; the last name of each may continue. */
const units: readonly (readonly [bigint, readonly string[]])[] = [
  [1n, ['ns', 'nano']],
  [1000n, ['us', '\u00b5s', 'micro']],
  [1_000_000n, ['ms', 'milli']],
  [second, ['s', 'sec']],
  [60n * second, ['m', 'min']],
  [3600n * second, ['h', 'hr', 'hour']],
  [86_400n * second, ['d', 'day']],
  [604_800n * second, ['w', 'wk', 'week']],
];

/** The format `duration`: Go's durations, and also `3 days`. */
export function parseApiDuration(text: string): bigint | undefined {
  const plain = parseGoDuration(text);
  if (plain !== undefined) return plain;
  let total: bigint | undefined;
  for (const [, count = '0', unitText = ''] of text.matchAll(
    /(?<!\d)(\d+)(?!\d)\s*(?!\s)([A-Za-z\u00b5]+)/g,
  )) {
    const name = unitText.toLowerCase();
    for (const [nanos, names] of units) {
      const isNamed = names.some((unit, index) =>
        index === names.length - 1 ? name.startsWith(unit) : name === unit,
      );
      if (isNamed) total = BigInt.asIntN(64, (total ?? 0n) + BigInt(count) * nanos);
    }
  }
  return total;
}

/** The format `date-time`: RFC 3339, also without a zone; an empty text is the start of 1970. */
export function parseApiDateTime(text: string): Value | undefined {
  if (text === '') return new CelTimestamp(0n);
  return parseCelTimestamp(text) ?? parseCelTimestamp(`${text}Z`);
}

/** The format `byte`, as Kubernetes' rules decode it: base64 with the alphabet for URLs. */
export function parseBase64Url(text: string): Uint8Array | undefined {
  const plain = text.replaceAll(/[\r\n]/g, '');
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9_-]*={0,2}$/.test(plain)) return undefined;
  return Uint8Array.from(Buffer.from(plain, 'base64url'));
}

import { nanosPerSecond } from './calendar.ts';

/** Parses `1h30m` to nanoseconds as Go's time.ParseDuration does; undefined if Go refuses it or it does not fit in 64 bits. */
export function parseGoDuration(text: string): bigint | undefined {
  if (text.length > lengthMax) return undefined;
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0n;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/.test(rest)) return undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of rest.matchAll(
    /(\d*)\.?(\d*)([a-z\u00b5\u03bc]+)/g,
  )) {
    const scale = unitNanos[unit] ?? 1n;
    nanos += BigInt(whole === '' ? '0' : whole) * scale;
    if (fraction !== '') nanos += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  if (sign === '-') return nanos > 2n ** 63n ? undefined : -nanos;
  return nanos > 2n ** 63n - 1n ? undefined : nanos;
}

/** Far more than any duration that fits needs. */
const lengthMax = 1000;

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  '\u00b5s': 1000n,
  '\u03bcs': 1000n,
  ms: 1_000_000n,
  s: nanosPerSecond,
  m: 60n * nanosPerSecond,
  h: 3600n * nanosPerSecond,
};

/**
 * Sizes in bytes, exact at any magnitude.
 *
 * Nearly every size in a cluster is a whole number of bytes below 2^53 and is stored as a plain number: comparing
 * two of them is one machine instruction. The others (exabytes, half a byte) carry their exact value in
 * nano-bytes beside the nearest double. Rounding to the nearest double never reverses an order, so doubles decide
 * every comparison except a tie; the exact value decides ties.
 */
export interface Size {
  /** Exact when `exactNano` is undefined, else the nearest double. */
  readonly bytes: number;
  readonly exactNano: bigint | undefined;
}

export const zeroSize: Size = { bytes: 0, exactNano: undefined };

const nanoPerByte = 1_000_000_000n;
const safeMax = BigInt(Number.MAX_SAFE_INTEGER);

export function sizeOfBytes(bytes: number): Size {
  return Number.isSafeInteger(bytes)
    ? { bytes, exactNano: undefined }
    : sizeOfNano(BigInt(Math.ceil(bytes)) * nanoPerByte);
}

export function sizeOfNano(nano: bigint): Size {
  const whole = nano / nanoPerByte;
  const fraction = nano % nanoPerByte;
  const isSafe = whole <= safeMax && whole >= -safeMax;
  if (fraction === 0n && isSafe) return { bytes: Number(whole), exactNano: undefined };
  const bytes = isSafe ? Number(whole) + Number(fraction) / 1e9 : Number(whole);
  return { bytes, exactNano: nano };
}

/** Rounds up to whole bytes, as requests to a CSI driver need. */
export function wholeBytesOf({ bytes, exactNano }: Size): number {
  return exactNano === undefined ? bytes : Number((exactNano + nanoPerByte - 1n) / nanoPerByte);
}

export function nanoOf(size: Size): bigint {
  return size.exactNano ?? BigInt(size.bytes) * nanoPerByte;
}

/** Negative, zero or positive, as for sorting. */
export function compareSizes(a: Size, b: Size): number {
  if (a.bytes !== b.bytes) return a.bytes < b.bytes ? -1 : 1;
  if (a.exactNano === undefined && b.exactNano === undefined) return 0;
  const left = nanoOf(a);
  const right = nanoOf(b);
  return left === right ? 0 : left < right ? -1 : 1;
}

export function addSizes(a: Size, b: Size): Size {
  const sum = a.bytes + b.bytes;
  if (a.exactNano === undefined && b.exactNano === undefined && Number.isSafeInteger(sum)) {
    return { bytes: sum, exactNano: undefined };
  }
  return sizeOfNano(nanoOf(a) + nanoOf(b));
}

/** May be negative, for a pool whose promises exceed its free bytes. */
export function subtractSizes(a: Size, b: Size): Size {
  const difference = a.bytes - b.bytes;
  if (a.exactNano === undefined && b.exactNano === undefined && Number.isSafeInteger(difference)) {
    return { bytes: difference, exactNano: undefined };
  }
  return sizeOfNano(nanoOf(a) - nanoOf(b));
}

/**
 * `size` × `numerator` / `denominator`, rounded up to whole bytes: what a volume of one class costs in the bytes of
 * another class that draws on the same disks.
 */
export function scaleSize(size: Size, numerator: Size, denominator: Size): Size {
  const divisor = nanoOf(denominator) * nanoPerByte;
  if (divisor <= 0n) return size;
  const product = nanoOf(size) * nanoOf(numerator);
  const bytes = (product + divisor - 1n) / divisor;
  return sizeOfNano(bytes * nanoPerByte);
}

/** The bytes of a drive that new volumes leave free, so that the volumes on it can grow. Rounded up: never less than the percentage. */
export function growthReserveBytes(capacityBytes: number, percent: number | undefined): number {
  if (percent === undefined || percent === 0) return 0;
  return Number((BigInt(capacityBytes) * BigInt(percent) + 99n) / 100n);
}

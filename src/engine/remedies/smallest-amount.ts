/** Most amounts are round: whole gibibytes or mebibytes, whole cores. */
const roundUnits = [2 ** 30, 2 ** 20, 1_000, 1] as const;

/**
 * The smallest whole number from `least` to `enough` for which `isEnough` holds. It must hold for `enough`, and for every larger number
 * than one for which it holds. A call is expensive, so likely answers come first: the proposed amount, then round ones.
 */
export function smallestEnough(least: number, enough: number, isEnough: (amount: number) => boolean): number {
  let tooLittle = least - 1;
  let known = enough;
  for (const unit of roundUnits) {
    let lower = Math.floor(tooLittle / unit);
    let upper = Math.ceil(known / unit);
    if (upper - lower <= 1) continue;
    // Nothing less is enough.
    if (!isEnough(known - 1)) return known;
    known -= 1;
    while (upper - lower > 1) {
      const middle = lower + Math.floor((upper - lower) / 2);
      if (isEnough(middle * unit)) upper = middle;
      else lower = middle;
    }
    tooLittle = Math.max(tooLittle, lower * unit);
    known = Math.min(known, upper * unit);
  }
  return known;
}

/** Amounts are mostly round: whole gibibytes or mebibytes, whole cores. */
const roundUnits = [2 ** 30, 2 ** 20, 1_000, 1] as const;

/**
 * The least whole number from `least` to `enough` that `isEnough`; `enough` must be. More is taken to be enough as well. To ask is costly, so
 * likely answers are tried first: the amount that was proposed, then round ones.
 */
export function smallestEnough(least: number, enough: number, isEnough: (amount: number) => boolean): number {
  let tooLittle = least - 1;
  let known = enough;
  for (const unit of roundUnits) {
    let lower = Math.floor(tooLittle / unit);
    let upper = Math.ceil(known / unit);
    if (upper - lower <= 1) continue;
    // Nothing less would do: this is it.
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

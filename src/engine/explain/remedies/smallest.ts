/** The least whole number from `least` to `enough` that `isEnough`; `enough` must be. More is taken to be enough as well. */
export function smallestEnough(least: number, enough: number, isEnough: (amount: number) => boolean): number {
  let tooLittle = least - 1;
  let known = enough;
  while (known - tooLittle > 1) {
    const middle = tooLittle + Math.floor((known - tooLittle) / 2);
    if (isEnough(middle)) known = middle;
    else tooLittle = middle;
  }
  return known;
}

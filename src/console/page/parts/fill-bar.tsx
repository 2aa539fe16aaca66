import { percentText, shownBytes } from '../format.ts';

export interface FillProps {
  readonly usedBytes: number;
  readonly promisedBytes: number;
  readonly totalBytes: number;
}

/** Used and promised of a total. The figures are beside it as text, so the bar itself says nothing to a screen reader. */
export function FillBar({ usedBytes, promisedBytes, totalBytes }: FillProps) {
  const width = (part: number) => `${totalBytes <= 0 ? 0 : Math.min(100, (100 * part) / totalBytes)}%`;
  return (
    <span class="fill" aria-hidden="true">
      <span class="fill-used" style={{ width: width(usedBytes) }} />
      <span class="fill-promised" style={{ width: width(promisedBytes) }} />
    </span>
  );
}

export function FillText({ usedBytes, promisedBytes, totalBytes }: FillProps) {
  return (
    <span class="fill-text">
      <span class="fill-amounts">
        {shownBytes(usedBytes)} of {shownBytes(totalBytes)}
        {promisedBytes > 0 && <span class="promised-text"> + {shownBytes(promisedBytes)} promised</span>}
      </span>
      {totalBytes > 0 && <span class="dim"> {percentText(usedBytes + promisedBytes, totalBytes)}</span>}
    </span>
  );
}

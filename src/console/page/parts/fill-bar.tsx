import { percentText, shownBytes } from '../format.ts';

export interface FillProps {
  readonly usedBytes: number;
  readonly promisedBytes: number;
  readonly totalBytes: number;
  /** It does not answer, so what it has is not known; `totalBytes` says nothing then. */
  readonly isTotalUnknown?: boolean;
  /** What promised bytes are called here. */
  readonly promisedWord?: 'promised' | 'pending';
}

/** Used and promised of a total. The figures are beside it as text, so the bar itself says nothing to a screen reader. */
export function FillBar({ usedBytes, promisedBytes, totalBytes, isTotalUnknown }: FillProps) {
  const isEmpty = totalBytes <= 0 || isTotalUnknown === true;
  const width = (part: number) => `${isEmpty ? 0 : Math.min(100, (100 * part) / totalBytes)}%`;
  return (
    <span class="fill" aria-hidden="true">
      <span class="fill-used" style={{ width: width(usedBytes) }} />
      <span class="fill-promised" style={{ width: width(promisedBytes) }} />
    </span>
  );
}

export function FillText(props: FillProps) {
  const { usedBytes, promisedBytes, totalBytes, isTotalUnknown = false, promisedWord = 'promised' } = props;
  return (
    <span class="fill-text">
      <span class="fill-amounts">
        {shownBytes(usedBytes)} of {isTotalUnknown ? 'an unknown size' : shownBytes(totalBytes)}
        {promisedBytes > 0 && (
          <span class="promised-text">
            {' '}
            + {shownBytes(promisedBytes)} {promisedWord}
          </span>
        )}
      </span>
      {totalBytes > 0 && !isTotalUnknown && (
        <span class="dim"> {percentText(usedBytes + promisedBytes, totalBytes)}</span>
      )}
    </span>
  );
}

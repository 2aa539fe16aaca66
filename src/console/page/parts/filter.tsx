import { useEffect, useMemo, useState } from 'preact/hooks';
import { RowFilter, wordsOf } from './row-filter.ts';

interface FilterState<T> {
  readonly filtered: readonly T[];
  readonly text: string;
  readonly setText: (text: string) => void;
  /** What is shown answers an earlier text. */
  readonly isSearching: boolean;
}

/** Rows that contain every word of the filter. What was found before stays until the search is finished, a few frames later. */
export function useFilter<T extends object>(rows: readonly T[], textOf: (row: T) => string): FilterState<T> {
  const [text, setText] = useState('');
  const [found, setFound] = useState<{ readonly rows: readonly T[]; readonly text: string } | undefined>();
  const filter = useMemo(
    () => new RowFilter<T>(textOf, (matching, ofText) => setFound({ rows: matching, text: ofText })),
    [],
  );
  const isFiltered = wordsOf(text).length > 0;
  useEffect(() => {
    if (isFiltered) filter.ask(rows, text);
    else {
      filter.stop();
      setFound(undefined);
    }
  }, [filter, rows, text, isFiltered]);
  useEffect(() => () => filter.stop(), [filter]);
  if (!isFiltered) return { filtered: rows, text, setText, isSearching: false };
  return { filtered: found?.rows ?? rows, text, setText, isSearching: found?.text !== text };
}

export function FilterBox(props: {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly shown: number;
  readonly total: number;
  readonly isSearching: boolean;
}) {
  return (
    <div class="filter">
      <label>
        <span class="visually-hidden">{props.label}</span>
        <input
          type="search"
          placeholder={props.label}
          value={props.text}
          onInput={(event) => props.onText(event.currentTarget.value)}
        />
      </label>
      <span class="dim" role="status" aria-busy={props.isSearching}>
        {props.shown === props.total
          ? props.total.toLocaleString('en-US')
          : `${props.shown.toLocaleString('en-US')} of ${props.total.toLocaleString('en-US')}`}
      </span>
    </div>
  );
}

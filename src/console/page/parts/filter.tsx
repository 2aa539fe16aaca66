import { useMemo, useState } from 'preact/hooks';

/** Rows that contain every word of the filter. */
export function useFilter<T>(
  rows: readonly T[],
  textOf: (row: T) => string,
): {
  readonly filtered: readonly T[];
  readonly text: string;
  readonly setText: (text: string) => void;
} {
  const [text, setText] = useState('');
  const filtered = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return rows;
    return rows.filter((row) => {
      const own = textOf(row).toLowerCase();
      return words.every((word) => own.includes(word));
    });
  }, [rows, text]);
  return { filtered, text, setText };
}

export function FilterBox(props: {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly shown: number;
  readonly total: number;
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
      <span class="dim" role="status">
        {props.shown === props.total
          ? props.total.toLocaleString('en-US')
          : `${props.shown.toLocaleString('en-US')} of ${props.total.toLocaleString('en-US')}`}
      </span>
    </div>
  );
}

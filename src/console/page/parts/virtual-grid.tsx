import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface GridColumn<T> {
  readonly title: string;
  readonly render: (row: T) => ComponentChildren;
  /** As in `grid-template-columns`; 1fr by default. */
  readonly width?: string;
  readonly isNumber?: boolean;
  /** Hidden on narrow screens. */
  readonly isMinor?: boolean;
}

export interface VirtualGridProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly GridColumn<T>[];
  readonly keyOf: (row: T) => string;
  /** Called by a click, or by Enter on the active row. */
  readonly onOpen?: (row: T) => void;
  readonly isSelected?: (row: T) => boolean;
  readonly emptyText: string;
  /** Rows that are visible at most. */
  readonly heightRows?: number;
}

const rowHeight = 34;
const overscan = 5;
const viewportDefault = 480;

/**
 * A table that draws only the rows that can be seen, so that 50,000 rows cost as much as 30. Arrow keys, Page Up and Down, Home and End move the
 * active row, and Enter opens it; `aria-rowindex` tells a screen reader where it is among all rows.
 */
export function VirtualGrid<T>(props: VirtualGridProps<T>) {
  const { label, rows, columns, keyOf, onOpen, isSelected, emptyText, heightRows = 18 } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(viewportDefault);
  const [active, setActive] = useState(0);
  const at = Math.min(active, Math.max(0, rows.length - 1));

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setHeight(element.clientHeight);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setActive(next);
    const element = box.current;
    if (element === null) return;
    const upper = next * rowHeight;
    if (upper < element.scrollTop) element.scrollTop = upper;
    // The head covers the first row.
    else if (upper + 2 * rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = upper + 2 * rowHeight - element.clientHeight;
  };
  const page = Math.max(1, Math.floor(height / rowHeight) - 2);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: rows.length - 1,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = steps[event.key];
    const row = rows[at];
    if (to !== undefined) move(to);
    else if (event.key === 'Enter' && row !== undefined) onOpen?.(row);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    if (active >= rows.length) setActive(Math.max(0, rows.length - 1));
  }, [rows.length]);

  const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + overscan);
  const slots = Math.ceil(height / rowHeight) + 2 * overscan + 2;
  const templateOf = (shown: readonly GridColumn<T>[]) =>
    shown.map(({ width = 'minmax(0, 1fr)' }) => width).join(' ');
  const cellClass = ({ isNumber, isMinor }: GridColumn<T>) =>
    `cell${isNumber === true ? ' number' : ''}${isMinor === true ? ' minor' : ''}`;
  return (
    <div
      class="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={rows.length === 0 ? undefined : `${id}-${at}`}
      tabIndex={0}
      ref={box}
      onScroll={() => setTop(box.current?.scrollTop ?? 0)}
      onKeyDown={onKeyDown}
      style={{
        maxHeight: `${(heightRows + 1) * rowHeight}px`,
        '--columns': templateOf(columns),
        '--columns-narrow': templateOf(columns.filter(({ isMinor }) => isMinor !== true)),
      }}
    >
      <div class="row head" role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <div class={cellClass(column)} role="columnheader" key={column.title}>
            {column.title}
          </div>
        ))}
      </div>
      {rows.length === 0 && (
        <div class="row empty" role="row">
          <div class="cell" role="gridcell">
            {emptyText}
          </div>
        </div>
      )}
      <div class="rows" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, offset) => {
          const index = first + offset;
          return (
            <div
              class={`row${index === at ? ' active' : ''}${onOpen === undefined ? '' : ' opens'}`}
              role="row"
              id={`${id}-${index}`}
              aria-rowindex={index + 2}
              aria-selected={isSelected?.(row) === true}
              // Elements are used again for other rows: changing their text is cheaper than making new ones.
              key={index % slots}
              data-key={keyOf(row)}
              style={{ transform: `translateY(${index * rowHeight}px)` }}
              onClick={() => {
                setActive(index);
                onOpen?.(row);
              }}
            >
              {columns.map((column) => (
                <div class={cellClass(column)} role="gridcell" key={column.title}>
                  {column.render(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

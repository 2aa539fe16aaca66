import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useMedia } from './use-media.ts';

export interface GridColumn<T> {
  readonly title: string;
  readonly render: (row: T) => ComponentChildren;
  /** As in `grid-template-columns`; 1fr by default. */
  readonly width?: string;
  readonly isNumber?: boolean;
  /** Hidden on narrow screens, where the first column has a line of its own above the others. */
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
  /** Rows that are visible at most; as many as the window has room for by default. */
  readonly heightRows?: number;
}

const oneLineHeight = 34;
const twoLinesHeight = 56;
const largeTextHeight = 46;
/** As in the style sheet. */
const narrow = '(max-width: 600px)';
const large = '(min-width: 3200px)';
const overscan = 5;
const viewportDefault = 480;

/**
 * A table that draws only the rows that can be seen, so that 50,000 rows cost as much as 30. Arrow keys, Page Up and Down, Home and End move the
 * active row, and Enter opens it; `aria-rowindex` tells a screen reader where it is among all rows.
 */
export function VirtualGrid<T>(props: VirtualGridProps<T>) {
  const { label, rows, columns, keyOf, onOpen, isSelected, emptyText, heightRows } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(viewportDefault);
  const [active, setActive] = useState(0);
  const isNarrow = useMedia(narrow);
  const isLarge = useMedia(large);
  const rowHeight = isNarrow ? twoLinesHeight : isLarge ? largeTextHeight : oneLineHeight;
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
  return (
    <div
      class="grid"
      role="grid"
      aria-label={label}
      data-fills={heightRows === undefined}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={rows.length === 0 ? undefined : `${id}-${at}`}
      tabIndex={0}
      ref={box}
      onScroll={() => setTop(box.current?.scrollTop ?? 0)}
      onKeyDown={onKeyDown}
      style={{
        ...(heightRows !== undefined && { maxHeight: `${(heightRows + 1) * rowHeight + 2}px` }),
        '--row-height': `${rowHeight}px`,
        '--columns': templateOf(columns),
        '--columns-medium': templateOf(columns.filter(({ isMinor }) => isMinor !== true)),
        '--columns-narrow': columns
          .slice(1)
          .flatMap((column) => (column.isMinor === true ? [] : [narrowWidthOf(column)]))
          .join(' '),
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
                <Cell column={column} row={row} key={column.title} />
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Cell<T>({ column, row }: { readonly column: GridColumn<T>; readonly row: T }) {
  const content = column.render(row);
  // What is cut can be read by pointing at it.
  return (
    <div class={cellClass(column)} role="gridcell" title={typeof content === 'string' ? content : undefined}>
      {content}
    </div>
  );
}

/** In the second line of a narrow row. Numbers are as wide as their titles, as they have to stand below them. */
function narrowWidthOf<T>({ title, isNumber, width = '' }: GridColumn<T>): string {
  if (isNumber === true) return `${Math.max(4, title.length * 0.62)}rem`;
  return /^[\d.]+rem$/.test(width) ? `min(${width}, 5rem)` : 'minmax(0, 1fr)';
}

function cellClass<T>({ isNumber, isMinor }: GridColumn<T>): string {
  return `cell${isNumber === true ? ' number' : ''}${isMinor === true ? ' minor' : ''}`;
}

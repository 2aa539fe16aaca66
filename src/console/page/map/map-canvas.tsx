import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ConsoleNode } from '../../wire/rows.ts';
import { useStore, useVersion } from '../context.ts';
import { percentText, shownBytes } from '../format.ts';
import { textScale, themeColours } from '../theme-colours.ts';
import { drawMap, mapColours } from './draw.ts';
import { cellAt, layoutMap, neighbour } from './layout.ts';
import type { NodeStorage } from './node-storage.ts';

export interface MapCanvasProps {
  readonly nodes: readonly ConsoleNode[];
  readonly storage: NodeStorage;
  readonly selected: string;
  readonly onSelect: (node: string) => void;
}

interface Pointed {
  readonly node: string;
  readonly x: number;
  readonly y: number;
}

/**
 * The map as a drawing. Only the visible part is drawn: the canvas is as large as its window and stays there while its contents scroll. The same
 * facts are in the table beside it, which is what a screen reader gets. It grows with the text of the page, which is larger on large screens.
 */
export function MapCanvas({ nodes, storage, selected, onSelect }: MapCanvasProps) {
  const store = useStore();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 800, height: 500, scale: 1 });
  const [top, setTop] = useState(0);
  const [pointed, setPointed] = useState<Pointed | undefined>();
  const version = useVersion(['node', 'pool', 'disk', 'volume'], 200);
  const theme = useThemeVersion();
  const { scale } = size;
  const colours = useMemo(() => themeColours(mapColours), [theme]);
  const layout = useMemo(() => layoutMap(nodes, size.width / scale), [nodes, size.width, scale]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight, scale: textScale() }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (element === null || context == null) return;
    const ratio = devicePixelRatio;
    element.width = Math.round(size.width * ratio);
    element.height = Math.round(size.height * ratio);
    context.setTransform(ratio * scale, 0, 0, ratio * scale, 0, 0);
    const nodeOf = (name: string) => store.get('node', name);
    const visible = { top: top / scale, width: size.width / scale, height: size.height / scale };
    drawMap({ context, layout, storage, nodeOf, colours, ...visible, selected });
  }, [layout, size, top, version, selected, theme]);

  const pointAt = (event: MouseEvent): Pointed | undefined => {
    const bounds = canvas.current!.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    const y = event.clientY - bounds.top;
    const at = cellAt(layout, x / scale, (y + top) / scale);
    return at === undefined ? undefined : { node: layout.cells[at]!.node, x, y };
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    const at = layout.cells.findIndex(({ node }) => node === selected);
    const next = layout.cells[neighbour(layout, at, event.key)];
    if (next === undefined) return;
    onSelect(next.node);
  };
  // Also if the node was selected by an address.
  useEffect(() => {
    const element = box.current;
    const cell = layout.cells.find(({ node }) => node === selected);
    if (element === null || cell === undefined) return;
    const upper = cell.y * scale;
    const lower = (cell.y + layout.cellHeight) * scale;
    if (upper < element.scrollTop) element.scrollTop = upper - 30;
    else if (lower > element.scrollTop + element.clientHeight)
      element.scrollTop = lower - element.clientHeight + 10;
  }, [selected, layout.height, scale]);
  return (
    <div
      class="map-box"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the arrow keys select a node.
      tabIndex={0}
      role="application"
      aria-label={`Map of ${nodes.length} nodes. Arrow keys select a node. The button Table shows the same facts as text.`}
      onScroll={() => setTop(box.current?.scrollTop ?? 0)}
      onKeyDown={onKeyDown}
    >
      <div class="map-area" style={{ height: `${Math.max(layout.height * scale, size.height)}px` }}>
        <canvas
          ref={canvas}
          aria-hidden="true"
          style={{ width: `${size.width}px`, height: `${size.height}px` }}
          onMouseMove={(event) => setPointed(pointAt(event))}
          onMouseLeave={() => setPointed(undefined)}
          onClick={(event) => {
            const at = pointAt(event);
            if (at !== undefined) onSelect(at.node);
          }}
        />
        {pointed !== undefined && <MapTip pointed={pointed} top={top} storage={storage} width={size.width} />}
      </div>
    </div>
  );
}

function MapTip({
  pointed,
  top,
  storage,
  width,
}: {
  readonly pointed: Pointed;
  readonly top: number;
  readonly storage: NodeStorage;
  readonly width: number;
}) {
  const { totalBytes, usedBytes, promisedBytes } = storage.sumOf(pointed.node);
  const left = Math.min(pointed.x + 14, width - 250);
  return (
    <div class="map-tip" style={{ left: `${Math.max(0, left)}px`, top: `${pointed.y + top + 14}px` }}>
      <strong>{pointed.node}</strong>
      <br />
      {totalBytes === 0
        ? 'no storage of its own'
        : `${shownBytes(usedBytes)} of ${shownBytes(totalBytes)} used (${percentText(usedBytes, totalBytes)})`}
      {promisedBytes > 0 && `, ${shownBytes(promisedBytes)} promised`}
    </div>
  );
}

/** Changes when the colours of the page do. */
export function useThemeVersion(): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const bump = () => setVersion((before) => before + 1);
    const media = matchMedia('(prefers-color-scheme: dark)');
    media.addEventListener('change', bump);
    addEventListener('themechange', bump);
    return () => {
      media.removeEventListener('change', bump);
      removeEventListener('themechange', bump);
    };
  }, []);
  return version;
}

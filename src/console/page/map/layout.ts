import type { ConsoleNode } from '../../wire/rows.ts';

export interface MapCell {
  readonly node: string;
  readonly x: number;
  readonly y: number;
}

export interface MapLabel {
  readonly text: string;
  readonly kind: 'zone' | 'rack';
  /** `zone:NAME` for a zone: the place whose units are drawn beside it. */
  readonly place: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface MapFrame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface MapLayout {
  readonly cellWidth: number;
  readonly cellHeight: number;
  /** How much a cell can show: bars with names, bars, or one colour. */
  readonly detail: 'card' | 'bars' | 'dot';
  /** From top to bottom, left to right. */
  readonly cells: readonly MapCell[];
  readonly labels: readonly MapLabel[];
  readonly frames: readonly MapFrame[];
  readonly height: number;
}

const sizes = {
  card: { width: 284, height: 112, gap: 10 },
  bars: { width: 58, height: 40, gap: 5 },
  dot: { width: 13, height: 13, gap: 3 },
} as const;

/** More nodes than this get smaller cells. */
const cardsMax = 60;
const barsMax = 600;

const zoneHead = 26;
const rackHead = 20;
const padding = 10;
const zoneWidthMin = 160;

/** Arranges nodes by zone and rack within the width. Zones with few nodes stand side by side. */
export function layoutMap(nodes: readonly ConsoleNode[], width: number): MapLayout {
  const detail = nodes.length <= cardsMax ? 'card' : nodes.length <= barsMax ? 'bars' : 'dot';
  const { width: wanted, height: cellHeight, gap } = sizes[detail];
  const cellWidth = Math.min(wanted, width - 2 * padding);
  const parts: Parts = { cells: [], labels: [], frames: [] };
  let x = 0;
  let y = 0;
  let rowHeight = 0;
  for (const [zone, racks] of byZoneAndRack(nodes)) {
    const needed = Math.max(...[...racks.values()].map(({ length }) => length)) * (cellWidth + gap) - gap;
    const zoneWidth = Math.min(width, Math.max(zoneWidthMin, needed + 2 * padding));
    if (x > 0 && x + zoneWidth > width) {
      x = 0;
      y += rowHeight + padding;
      rowHeight = 0;
    }
    const height = placeZone(parts, { zone, racks, x, y, width: zoneWidth, cellWidth, cellHeight, gap });
    rowHeight = Math.max(rowHeight, height);
    x += zoneWidth + padding;
  }
  const cells = parts.cells.sort((a, b) => a.y - b.y || a.x - b.x);
  return { ...parts, cellWidth, cellHeight, detail, cells, height: y + rowHeight + padding };
}

interface Parts {
  readonly cells: MapCell[];
  readonly labels: MapLabel[];
  readonly frames: MapFrame[];
}

interface ZoneBox {
  readonly zone: string;
  readonly racks: ReadonlyMap<string, readonly ConsoleNode[]>;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly gap: number;
}

/** Returns the height. */
function placeZone({ cells, labels, frames }: Parts, box: ZoneBox): number {
  const { zone, racks, cellWidth, cellHeight, gap } = box;
  const left = box.x + padding;
  const inner = box.width - 2 * padding;
  const columns = Math.max(1, Math.floor((inner + gap) / (cellWidth + gap)));
  let y = box.y;
  const place = `zone:${zone}`;
  labels.push({ text: zone === '' ? 'no zone' : zone, kind: 'zone', place, x: left, y, width: inner });
  y += zoneHead;
  for (const [rack, inRack] of racks) {
    if (racks.size > 1 || rack !== '') {
      const text = rack === '' ? 'no rack' : `rack ${rack}`;
      labels.push({ text, kind: 'rack', place: '', x: left, y, width: inner });
      y += rackHead;
    }
    for (const [at, { id }] of inRack.entries())
      cells.push({
        node: id,
        x: left + (at % columns) * (cellWidth + gap),
        y: y + Math.floor(at / columns) * (cellHeight + gap),
      });
    y += Math.ceil(inRack.length / columns) * (cellHeight + gap) + gap / 2;
  }
  const height = y - box.y + padding / 2;
  frames.push({ x: box.x + 0.5, y: box.y + 0.5, width: box.width - 1, height });
  return height;
}

function byZoneAndRack(nodes: readonly ConsoleNode[]): Map<string, Map<string, ConsoleNode[]>> {
  const zones = new Map<string, Map<string, ConsoleNode[]>>();
  for (const node of nodes) {
    const racks = zones.get(node.zone) ?? new Map<string, ConsoleNode[]>();
    zones.set(node.zone, racks);
    const inRack = racks.get(node.rack);
    if (inRack === undefined) racks.set(node.rack, [node]);
    else inRack.push(node);
  }
  const sorted = [...zones].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(
    sorted.map(([zone, racks]) => [zone, new Map([...racks].sort(([a], [b]) => (a < b ? -1 : 1)))]),
  );
}

/** The cell at a point; undefined if there is none. Cells are in rows, so the search is a few steps. */
export function cellAt(
  { cells, cellWidth, cellHeight }: MapLayout,
  x: number,
  y: number,
): number | undefined {
  let at = firstCellFrom(cells, y - cellHeight);
  for (; at < cells.length; at += 1) {
    const cell = cells[at]!;
    if (cell.y > y) return undefined;
    if (x >= cell.x && x <= cell.x + cellWidth && y >= cell.y && y <= cell.y + cellHeight) return at;
  }
  return undefined;
}

/** The index of the first cell that begins at `y` or below. */
export function firstCellFrom(cells: readonly MapCell[], y: number): number {
  let low = 0;
  let high = cells.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (cells[middle]!.y < y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The next cell in a direction, for the arrow keys. */
export function neighbour({ cells }: MapLayout, at: number, key: string): number {
  const cell = cells[at];
  if (cell === undefined) return 0;
  if (key === 'ArrowRight') return Math.min(cells.length - 1, at + 1);
  if (key === 'ArrowLeft') return Math.max(0, at - 1);
  const step = key === 'ArrowDown' ? 1 : -1;
  // The nearest cell of the next row.
  let next = at + step;
  while (cells[next] !== undefined && cells[next]!.y === cell.y) next += step;
  const rowY = cells[next]?.y;
  if (rowY === undefined) return at;
  let best = next;
  for (; cells[next]?.y === rowY; next += step)
    if (Math.abs(cells[next]!.x - cell.x) < Math.abs(cells[best]!.x - cell.x)) best = next;
  return best;
}

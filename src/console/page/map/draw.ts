import type { ConsoleNode, NodeAmount } from '../../wire/rows.ts';
import { percentText, shownBytes } from '../format.ts';
import { firstCellFrom, type MapCell, type MapLayout } from './layout.ts';
import type { NodeStorage, StorageSum, StorageUnit } from './node-storage.ts';

/** The colours of the page that the map uses. */
export const mapColours = [
  'text',
  'dim',
  'line',
  'card',
  'free',
  'used',
  'promised',
  'bad',
  'accent',
  'full',
] as const;

type MapColours = Readonly<Record<(typeof mapColours)[number], string>>;

export interface DrawInput {
  readonly context: CanvasRenderingContext2D;
  readonly layout: MapLayout;
  readonly storage: NodeStorage;
  readonly nodeOf: (name: string) => ConsoleNode | undefined;
  readonly colours: MapColours;
  /** The visible part. */
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly selected: string;
}

const unitsShownMax = 5;

/** Draws the visible part of the map. */
export function drawMap(input: DrawInput): void {
  const { context, layout, top, width, height, colours } = input;
  context.clearRect(0, 0, width, height);
  context.save();
  context.translate(0, -top);
  context.textBaseline = 'middle';
  for (const frame of layout.frames) {
    if (frame.y + frame.height < top || frame.y > top + height) continue;
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.strokeRect(frame.x, frame.y, frame.width, frame.height);
  }
  drawLabels(input);
  const { cells, cellHeight, detail } = layout;
  const draw = detail === 'card' ? drawCard : detail === 'bars' ? drawBars : drawDot;
  for (let at = firstCellFrom(cells, top - cellHeight); at < cells.length; at += 1) {
    const cell = cells[at]!;
    if (cell.y > top + height) break;
    const node = input.nodeOf(cell.node);
    if (node !== undefined) draw(input, cell, node);
  }
  context.restore();
}

function drawLabels({ context, layout, storage, colours, top, height }: DrawInput): void {
  for (const label of layout.labels) {
    if (label.y + 26 < top || label.y > top + height) continue;
    const isZone = label.kind === 'zone';
    context.font = isZone ? '600 13px system-ui, sans-serif' : '12px system-ui, sans-serif';
    context.fillStyle = isZone ? colours.text : colours.dim;
    context.fillText(label.text, label.x, label.y + (isZone ? 15 : 10));
    if (isZone) drawZoneUnits(context, storage.unitsOf(label.place), label, colours);
  }
}

/** The pools of a zone are beside its name, as far as there is room. */
function drawZoneUnits(
  context: CanvasRenderingContext2D,
  units: readonly StorageUnit[],
  {
    text,
    x,
    y,
    width,
  }: { readonly text: string; readonly x: number; readonly y: number; readonly width: number },
  colours: MapColours,
): void {
  let left = x + context.measureText(text).width + 18;
  context.font = '11px system-ui, sans-serif';
  for (const unit of units.slice(0, unitsShownMax)) {
    const name = `${unit.name} ${freeText(unit)}`;
    const nameWidth = context.measureText(name).width;
    if (left + 66 + nameWidth > x + width) return;
    drawFill(context, unit, { x: left, y: y + 11, width: 60, height: 8 }, colours);
    context.fillStyle = colours.dim;
    context.fillText(name, left + 66, y + 15);
    left += 66 + nameWidth + 18;
  }
}

function freeText({ totalBytes, usedBytes, promisedBytes }: StorageUnit): string {
  return `${shownBytes(totalBytes - usedBytes - promisedBytes)} free`;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function drawFill(
  context: CanvasRenderingContext2D,
  { totalBytes, usedBytes, promisedBytes, isFull }: Omit<StorageSum, 'hasProblem'>,
  { x, y, width, height }: Box,
  colours: MapColours,
): void {
  context.fillStyle = colours.free;
  context.fillRect(x, y, width, height);
  if (totalBytes <= 0) return;
  const used = Math.min(width, (width * usedBytes) / totalBytes);
  const promised = Math.min(width - used, (width * promisedBytes) / totalBytes);
  context.fillStyle = isFull ? colours.full : colours.used;
  context.fillRect(x, y, used, height);
  context.fillStyle = colours.promised;
  context.fillRect(x + used, y, promised, height);
}

function drawFrame(
  { context, colours, selected, layout }: DrawInput,
  { x, y, node: name }: MapCell,
  node: ConsoleNode,
): void {
  const { cellWidth, cellHeight } = layout;
  context.fillStyle = colours.card;
  context.fillRect(x, y, cellWidth, cellHeight);
  context.lineWidth = name === selected ? 2 : 1;
  context.strokeStyle = name === selected ? colours.accent : node.isReady ? colours.line : colours.bad;
  context.setLineDash(node.isCordoned ? [4, 3] : []);
  context.strokeRect(x + 0.5, y + 0.5, cellWidth - 1, cellHeight - 1);
  context.setLineDash([]);
}

/** Name, processor and memory, and a bar with its name for each unit. */
function drawCard(input: DrawInput, cell: MapCell, node: ConsoleNode): void {
  const { context, colours, storage, layout } = input;
  const { x, y } = cell;
  const width = layout.cellWidth;
  drawFrame(input, cell, node);
  context.font = '600 12px system-ui, sans-serif';
  context.fillStyle = node.isReady ? colours.text : colours.bad;
  const state = node.isReady ? (node.isCordoned ? 'cordoned' : '') : 'not ready';
  drawText(context, node.id, x + 8, y + 14, width - 16 - (state === '' ? 0 : 60));
  context.font = '11px system-ui, sans-serif';
  if (state !== '') {
    context.textAlign = 'right';
    context.fillText(state, x + width - 8, y + 14);
    context.textAlign = 'left';
  }
  const half = (width - 22) / 2;
  drawShare(context, 'cpu', node.cpu, { x: x + 8, y: y + 24, width: half, height: 12 }, colours);
  drawShare(
    context,
    'memory',
    node.memory,
    { x: x + 14 + half, y: y + 24, width: half, height: 12 },
    colours,
  );
  const units = storage.unitsOf(node.id);
  const shown = units.length > unitsShownMax ? units.slice(0, unitsShownMax - 1) : units;
  for (const [at, unit] of shown.entries()) {
    const lineY = y + 44 + at * 13;
    drawFill(context, unit, { x: x + 8, y: lineY, width: 46, height: 8 }, colours);
    context.fillStyle = unit.problem === '' ? colours.dim : colours.bad;
    const state = unit.problem === '' ? freeText(unit) : unit.problem;
    const stateWidth = context.measureText(state).width;
    drawText(context, unit.name, x + 60, lineY + 4.5, width - 76 - stateWidth);
    context.fillText(state, x + width - 8 - stateWidth, lineY + 4.5);
  }
  context.fillStyle = colours.dim;
  if (units.length > shown.length)
    context.fillText(`and ${units.length - shown.length} more`, x + 60, y + 44 + shown.length * 13 + 4.5);
  if (units.length === 0) context.fillText('no storage of its own', x + 8, y + 50);
}

function drawShare(
  context: CanvasRenderingContext2D,
  name: string,
  [used, total]: NodeAmount,
  { x, y, width, height }: Box,
  colours: MapColours,
): void {
  context.fillStyle = colours.free;
  context.fillRect(x, y, width, height);
  context.fillStyle = colours.used;
  context.globalAlpha = 0.45;
  context.fillRect(x, y, widthOf(used, total, width), height);
  context.globalAlpha = 1;
  context.fillStyle = colours.text;
  context.font = '10px system-ui, sans-serif';
  context.fillText(`${name} ${percentText(used, total)}`, x + 4, y + height / 2 + 0.5);
  context.font = '11px system-ui, sans-serif';
}

function widthOf(used: number | null, total: number, width: number): number {
  return used === null || total <= 0 ? 0 : Math.min(width, (width * used) / total);
}

/** The name and one bar. */
function drawBars(input: DrawInput, cell: MapCell, node: ConsoleNode): void {
  const { context, colours, storage, layout } = input;
  drawFrame(input, cell, node);
  context.font = '10px system-ui, sans-serif';
  context.fillStyle = node.isReady ? colours.text : colours.bad;
  drawText(context, node.id, cell.x + 4, cell.y + 10, layout.cellWidth - 8);
  const box = { x: cell.x + 4, y: cell.y + 20, width: layout.cellWidth - 8, height: 6 };
  drawFill(context, storage.sumOf(node.id), box, colours);
  const [used, total] = node.cpu;
  context.fillStyle = colours.free;
  context.fillRect(box.x, cell.y + 30, box.width, 4);
  context.fillStyle = colours.dim;
  context.fillRect(box.x, cell.y + 30, widthOf(used, total, box.width), 4);
}

/** A square that fills from below. */
function drawDot(
  { context, colours, storage, layout, selected }: DrawInput,
  { x, y, node: name }: MapCell,
  node: ConsoleNode,
): void {
  const { cellWidth: width, cellHeight: height } = layout;
  const { totalBytes, usedBytes, promisedBytes, hasProblem, isFull } = storage.sumOf(name);
  context.fillStyle = colours.free;
  context.fillRect(x, y, width, height);
  if (totalBytes > 0) {
    const used = Math.min(height, (height * usedBytes) / totalBytes);
    const promised = Math.min(height - used, (height * promisedBytes) / totalBytes);
    context.fillStyle = isFull ? colours.full : colours.used;
    context.fillRect(x, y + height - used, width, used);
    context.fillStyle = colours.promised;
    context.fillRect(x, y + height - used - promised, width, promised);
  }
  const isBad = !node.isReady || hasProblem;
  if (name !== selected && !isBad && !node.isCordoned) return;
  context.lineWidth = 2;
  context.strokeStyle = name === selected ? colours.accent : isBad ? colours.bad : colours.dim;
  context.strokeRect(x + 1, y + 1, width - 2, height - 2);
}

/** Cuts a text that is too long. */
function drawText(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  width: number,
): void {
  let shown = text;
  if (context.measureText(shown).width > width) {
    while (shown.length > 1 && context.measureText(`${shown}…`).width > width) shown = shown.slice(0, -1);
    shown = `${shown}…`;
  }
  context.fillText(shown, x, y);
}

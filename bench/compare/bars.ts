import type { Row } from '../harness.ts';
import { ours, theirs } from './schedulers.ts';

const width = 1_120;
const height = 380;
const margin = { top: 64, right: 20, bottom: 74, left: 62 } as const;
const plotWidth = width - margin.left - margin.right;
const plotHeight = height - margin.top - margin.bottom;
const colours: Readonly<Record<string, string>> = { [theirs]: '#326ce5', [ours]: '#d9822b' };

/**
 * Scheduled pods per second, one bar for each workload and scheduler. The scale is logarithmic: otherwise small bars would be invisible.
 */
export function plotOf(rows: readonly Row[]): string {
  const placed = rows.filter(({ work }) => work === 'placed');
  const groups = [...new Set(placed.map(groupOf))];
  const scale = scaleOf(placed.map(({ podsPerSecond }) => Number(podsPerSecond)));
  const parts = [
    ...scale.decades.map((value) => gridLine(value, scale.yOf(value))),
    ...groups.flatMap((group, at) => groupParts(placed, group, { at, of: groups.length, scale })),
    ...Object.entries(colours).map(([name, colour], at) => legend(name, colour, at)),
  ];
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    '<title>Pods placed per second, kube-scheduler and stowage run</title>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text({ x: margin.left, y: 24, size: 15 }, 'Pods placed per second (logarithmic; more is better)'),
    ...parts,
    '</svg>',
  ].join('\n')}\n`;
}

interface Scale {
  readonly decades: readonly number[];
  yOf(value: number): number;
}

/** From the power of ten below the minimum to the one above the maximum. */
function scaleOf(values: readonly number[]): Scale {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  const low = Math.floor(Math.min(0, ...logs));
  const high = Math.max(low + 1, Math.ceil(Math.max(...logs)));
  const decades = Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at));
  const share = (value: number) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low);
  return { decades, yOf: (value) => margin.top + plotHeight * (1 - share(value)) };
}

function groupOf({ what, nodes, volumes }: Row): string {
  const size = `${count(nodes)} nodes${volumes === 0 ? '' : `, ${count(volumes)} PVs`}`;
  return `${String(what).replace(', ', '|')}|${size}`;
}

function count(value: string | number | undefined): string {
  return Number(value).toLocaleString('en');
}

interface Place {
  readonly at: number;
  readonly of: number;
  readonly scale: Scale;
}

function groupParts(placed: readonly Row[], group: string, { at, of, scale }: Place): readonly string[] {
  const groupWidth = plotWidth / of;
  const left = margin.left + at * groupWidth;
  const middle = left + groupWidth / 2;
  const rows = placed.filter((row) => groupOf(row) === group);
  const barWidth = (groupWidth * 0.7) / Math.max(1, rows.length);
  const bars = rows.flatMap((row, nth) =>
    bar(row, left + groupWidth * 0.15 + nth * barWidth, barWidth, scale),
  );
  const labels = group
    .split('|')
    .map((line, nth) =>
      text({ x: middle, y: height - margin.bottom + 20 + nth * 16, anchor: 'middle' }, line),
    );
  return [...bars, ...labels];
}

function bar(row: Row, x: number, barWidth: number, scale: Scale): readonly string[] {
  const value = Number(row.podsPerSecond);
  const y = scale.yOf(value);
  const bottom = margin.top + plotHeight;
  const fill = colours[String(row.scheduler)] ?? '#888';
  return [
    `<rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(barWidth - 4)}" height="${fixed(bottom - y)}" fill="${fill}"/>`,
    text({ x: x + barWidth / 2 - 2, y: y - 5, anchor: 'middle' }, labelOf(value)),
  ];
}

function labelOf(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}

function gridLine(value: number, y: number): string {
  const line = `<line x1="${margin.left}" x2="${width - margin.right}" y1="${fixed(y)}" y2="${fixed(y)}" stroke="#ddd"/>`;
  return `${line}${text({ x: margin.left - 8, y: y + 4, anchor: 'end' }, value.toLocaleString('en'))}`;
}

function legend(name: string, colour: string, at: number): string {
  const x = margin.left + at * 150;
  return `<rect x="${x}" y="38" width="12" height="12" fill="${colour}"/>${text({ x: x + 18, y: 48 }, name)}`;
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor?: 'middle' | 'end';
  readonly size?: number;
}

function text({ x, y, anchor, size }: TextPlace, content: string): string {
  const more = `${anchor ? ` text-anchor="${anchor}"` : ''}${size ? ` font-size="${size}"` : ''}`;
  return `<text x="${fixed(x)}" y="${fixed(y)}"${more} fill="#222">${content}</text>`;
}

function fixed(value: number): string {
  return String(Number(value.toFixed(1)));
}

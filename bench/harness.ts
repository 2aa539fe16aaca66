import { cpus, totalmem } from 'node:os';

/** One row of a benchmark's result: the work, its size, and the numbers. */
export type Row = Readonly<Record<string, string | number>>;

export interface Benchmark {
  readonly name: string;
  readonly summary: string;
  run(progress: (text: string) => void, sizes?: Sizes): Promise<readonly Row[]> | readonly Row[];
  /** Replaces the default tables in the output. */
  readonly report?: (rows: readonly Row[]) => string;
  /** An SVG image. */
  readonly plot?: (rows: readonly Row[]) => string;
}

/** For benchmarks that support smaller sizes; an undefined size is the full one. */
export interface Sizes {
  readonly nodes?: number;
  readonly pvs?: number;
  readonly pods?: number;
  /** The time limit in seconds for a slow subject. */
  readonly cap?: number;
}

export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Times each call after as many untimed ones, so that all code paths are compiled. */
export function timeEach(repeats: number, call: (repeat: number) => void): Percentiles {
  for (let repeat = 0; repeat < repeats; repeat++) call(repeat);
  const times = timesMs(repeats, (repeat) => call(repeats + repeat));
  return { p50Ms: rounded(times[repeats >> 1]!), p99Ms: rounded(times[Math.floor(repeats * 0.99)]!) };
}

/** For slow calls, of which a few must be enough. */
export function medianMs(repeats: number, call: (repeat: number) => void): number {
  return rounded(timesMs(repeats, call)[repeats >> 1]!);
}

function timesMs(repeats: number, call: (repeat: number) => void): Float64Array {
  const times = new Float64Array(repeats);
  for (let repeat = 0; repeat < repeats; repeat++) {
    const start = performance.now();
    call(repeat);
    times[repeat] = performance.now() - start;
  }
  return times.sort();
}

export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

export function machine(): Row {
  const [cpu] = cpus();
  return {
    cpu: cpu?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
  };
}

/** Rows of one kind have the same columns; each kind is a table. */
export function tablesOf(rows: readonly Row[]): string {
  const kinds = [...new Set(rows.map((row) => row.work))];
  return kinds.map((kind) => tableOf(rows.filter((row) => row.work === kind))).join('\n\n');
}

function tableOf(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))];
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  return cells
    .map((line) => line.map((cell, column) => cell.padStart(widths[column]!)).join('  '))
    .join('\n');
}

import type { HistoryAnswer } from '../wire/answers.ts';

/** One moment: values by group and name. */
export type HistorySample = ReadonlyMap<string, ReadonlyMap<string, number | null>>;

/** Points that are kept. At the bound every second one is dropped and the interval doubles, so that any duration fits. */
const pointsMax = 1_440;
/** Groups that are kept: classes, and the pods. */
const groupsMax = 64;

/** Values over time in bounded memory. */
export class CapacityHistory {
  #timesMs: number[] = [];
  readonly #values = new Map<
    string,
    { readonly group: string; readonly name: string; values: (number | null)[] }
  >();
  #intervalMs: number;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** When the next sample is due. It grows with the time that the samples cover. */
  get intervalMs(): number {
    return this.#intervalMs;
  }

  add(nowMs: number, sample: HistorySample): void {
    for (const [group, values] of [...sample].slice(0, groupsMax))
      for (const name of values.keys()) this.#series(group, name);
    this.#timesMs.push(nowMs);
    for (const { group, name, values } of this.#values.values())
      values.push(sample.get(group)?.get(name) ?? null);
    if (this.#timesMs.length > pointsMax) this.#thinOut();
  }

  /** Continues a history that another process has recorded. */
  restore({ timesMs, series }: HistoryAnswer): void {
    this.#timesMs = timesMs.slice(-pointsMax);
    this.#values.clear();
    for (const { group, name, values } of series)
      this.#values.set(`${group}\0${name}`, { group, name, values: values.slice(-pointsMax) });
  }

  answer(): HistoryAnswer {
    return {
      timesMs: [...this.#timesMs],
      series: [...this.#values.values()].map(({ group, name, values }) => ({
        group,
        name,
        values: [...values],
      })),
    };
  }

  #series(group: string, name: string): void {
    const key = `${group}\0${name}`;
    if (this.#values.has(key)) return;
    this.#values.set(key, { group, name, values: this.#timesMs.map(() => null) });
  }

  /** Keeps the newest point. Series without any value are dropped. */
  #thinOut(): void {
    const isKept = (_: unknown, at: number, all: readonly unknown[]) => (all.length - 1 - at) % 2 === 0;
    this.#timesMs = this.#timesMs.filter(isKept);
    for (const [key, series] of this.#values) {
      series.values = series.values.filter(isKept);
      if (series.values.every((value) => value === null)) this.#values.delete(key);
    }
    this.#intervalMs *= 2;
  }
}

import { assert } from './assert.ts';

/** Values by label name: all names that the metric was created with, and no others. */
export type Labels = Readonly<Record<string, string>>;

export interface CounterMetric {
  add(labels?: Labels, amount?: number): void;
  value(labels?: Labels): number;
}

export interface GaugeMetric {
  set(value: number, labels?: Labels): void;
  /** Sets these values and removes all others: series of deleted objects must not stay. */
  replace(values: Iterable<readonly [labels: Labels, value: number]>): void;
  value(labels?: Labels): number;
}

export interface HistogramMetric {
  observe(value: number, labels?: Labels): void;
  /** The number of observations. */
  count(labels?: Labels): number;
  sum(labels?: Labels): number;
}

/** A metric without its values. */
export interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labelNames: readonly string[];
}

/**
 * The metrics of a program. A caller requests a metric by its name and keeps it; requesting it twice returns the same one, so
 * that several callers may count together. `render` writes all of them in Prometheus' text format, sorted, so that pages can be compared.
 *
 * Each combination of labels costs an entry for good: labels are for a handful of values. Only a gauge whose values are always replaced together may have
 * names of objects in its labels, with a maximum.
 */
export class Metrics {
  readonly #families = new Map<string, Family>();
  readonly #updates = new Set<() => void>();

  /** Only ever rises; by convention its name ends in `_total`. */
  counter(name: string, help: string, labelNames: readonly string[] = []): CounterMetric {
    const family = this.#family({ name, help, type: 'counter', labelNames, buckets: [] });
    return {
      add: (labels = {}, amount = 1) => {
        assert(amount >= 0, `${name} is a counter and must not decrease`);
        seriesOf(family, labels).sum += amount;
      },
      value: (labels = {}) => seriesOf(family, labels).sum,
    };
  }

  gauge(name: string, help: string, labelNames: readonly string[] = []): GaugeMetric {
    const family = this.#family({ name, help, type: 'gauge', labelNames, buckets: [] });
    return {
      set: (value, labels = {}) => {
        seriesOf(family, labels).sum = value;
      },
      replace: (values) => {
        family.series.clear();
        for (const [labels, value] of values) seriesOf(family, labels).sum = value;
      },
      value: (labels = {}) => seriesOf(family, labels).sum,
    };
  }

  /** `buckets` are rising upper limits, each inclusive; the bucket without a limit is added. */
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly string[] = [],
  ): HistogramMetric {
    const isRising = buckets.every((limit, at) => at === 0 || (buckets[at - 1] ?? 0) < limit);
    assert(isRising, `the buckets of ${name} must be in increasing order`);
    const family = this.#family({ name, help, type: 'histogram', labelNames, buckets });
    return {
      observe: (value, labels = {}) => observe(family, seriesOf(family, labels), value),
      count: (labels = {}) => seriesOf(family, labels).count,
      sum: (labels = {}) => seriesOf(family, labels).sum,
    };
  }

  /** Prometheus' text format, version 0.0.4. */
  render(): string {
    for (const update of this.#updates) update();
    return this.#sorted()
      .map((family) => rendered(family))
      .join('');
  }

  /** Called before each `render`, to update gauges; the returned function ends that. */
  beforeRender(update: () => void): () => void {
    this.#updates.add(update);
    return () => this.#updates.delete(update);
  }

  /** All metrics, by name. */
  describe(): readonly MetricDescription[] {
    return this.#sorted().map(({ name, help, type, labelNames }) => ({ name, help, type, labelNames }));
  }

  #sorted(): readonly Family[] {
    return [...this.#families.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #family(wanted: Omit<Family, 'series'>): Family {
    const known = this.#families.get(wanted.name);
    if (known === undefined) {
      assert(isName.test(wanted.name), `${wanted.name} is not a valid metric name`);
      const family = { ...wanted, series: new Map<string, Series>() };
      this.#families.set(wanted.name, family);
      // A metric without labels exists from the start; one with labels once they are known.
      if (wanted.labelNames.length === 0) seriesOf(family, {});
      return family;
    }
    assert(shapeOf(known) === shapeOf(wanted), `${wanted.name} is already another metric`);
    return known;
  }
}

const isName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

interface Family extends MetricDescription {
  readonly buckets: readonly number[];
  /** Series by the rendered values of their labels. */
  readonly series: Map<string, Series>;
}

interface Series {
  /** The value; for a histogram, the sum of all values. */
  sum: number;
  count: number;
  /** Observations in each bucket alone; accumulated when rendered. */
  readonly inBucket: number[];
}

function shapeOf({ type, labelNames, buckets }: Omit<Family, 'series'>): string {
  return JSON.stringify([type, labelNames, buckets]);
}

function seriesOf(family: Family, labels: Labels): Series {
  const { labelNames, buckets, series } = family;
  checkLabels(family, labels);
  const key = labelNames.map((label) => `${label}="${escaped(labels[label] ?? '')}"`).join(',');
  const known = series.get(key);
  if (known !== undefined) return known;
  const fresh = { sum: 0, count: 0, inBucket: buckets.map(() => 0) };
  series.set(key, fresh);
  return fresh;
}

/** The message is made only if it is needed: every API call of a controller comes here. */
function checkLabels({ name, labelNames }: Family, labels: Labels): void {
  const given = Object.keys(labels);
  if (given.length === labelNames.length && labelNames.every((label) => label in labels)) return;
  assert(false, `${name} has the labels [${labelNames.join(', ')}], not [${given.join(', ')}]`);
}

function observe({ buckets }: Family, series: Series, value: number): void {
  series.sum += value;
  series.count += 1;
  const at = buckets.findIndex((limit) => value <= limit);
  if (at >= 0) series.inBucket[at] = (series.inBucket[at] ?? 0) + 1;
}

function rendered(family: Family): string {
  const { name, help, type, series } = family;
  const explained = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  const lines = [`# HELP ${name} ${explained}`, `# TYPE ${name} ${type}`];
  for (const [labels, one] of [...series].sort(([a], [b]) => (a < b ? -1 : 1)))
    lines.push(
      ...(type === 'histogram' ? histogramLines(family, labels, one) : [line(name, labels, one.sum)]),
    );
  return `${lines.join('\n')}\n`;
}

function histogramLines({ name, buckets }: Family, labels: string, series: Series): readonly string[] {
  let upToHere = 0;
  const bucketLines = buckets.map((limit, at) => {
    upToHere += series.inBucket[at] ?? 0;
    return line(`${name}_bucket`, joined(labels, `le="${limit}"`), upToHere);
  });
  return [
    ...bucketLines,
    line(`${name}_bucket`, joined(labels, 'le="+Inf"'), series.count),
    line(`${name}_sum`, labels, series.sum),
    line(`${name}_count`, labels, series.count),
  ];
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}`;
}

function joined(labels: string, last: string): string {
  return labels === '' ? last : `${labels},${last}`;
}

const special = /[\\"\n]/;

function escaped(value: string): string {
  return !special.test(value)
    ? value
    : value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

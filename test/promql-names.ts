/** The names in PromQL queries, compared with the metrics of the program. It does not check the grammar. */

export interface KnownMetric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
}

export type KnownMetrics = ReadonlyMap<string, KnownMetric>;

/** Labels that Prometheus adds to every series of a pod. */
const targetLabels = ['job', 'instance', 'namespace', 'pod', 'container', 'node'];
const keywords = new Set([
  'and',
  'or',
  'unless',
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'bool',
  'offset',
]);
/** Functions that need a counter. */
const counterFunctions = new Set(['rate', 'irate', 'increase']);

/** The metrics of docs/metrics.md. */
export function knownMetrics(page: string): KnownMetrics {
  const rows = page.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \| (.*?) \| /gm);
  return new Map(
    [...rows].map(([, name = '', type = '', labels = '']) => [
      name,
      {
        type: type as KnownMetric['type'],
        labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label!),
      },
    ]),
  );
}

/** What is wrong with the names of a query; `shown` are labels that its result must have. */
export function problemsOf(
  expr: string,
  known: KnownMetrics,
  shown: readonly string[] = [],
): readonly string[] {
  const plain = expr.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  const problems: string[] = [];
  const labels = new Set(targetLabels);
  const grouped: string[] = [];
  const text = plain.replace(
    /\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g,
    (_, _word, list) => {
      grouped.push(
        ...String(list)
          .split(',')
          .map((label) => label.trim())
          .filter((label) => label !== ''),
      );
      return ' ';
    },
  );
  const names = text.matchAll(/([a-zA-Z_:][\w:]*)(\s*\(|\s*\{[^}]*\})?(\s*\[)?/g);
  let lastFunction = '';
  for (const [, name = '', after = '', range = ''] of withoutRangesAndMatchers(names, text)) {
    if (after.trim() === '(') {
      lastFunction = name;
      continue;
    }
    if (keywords.has(name)) continue;
    const metric = metricOf(name, known);
    if (typeof metric === 'string') {
      problems.push(metric);
      continue;
    }
    for (const label of metric.labels) labels.add(label);
    for (const [, label = ''] of after.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      if (![...targetLabels, ...metric.labels].includes(label))
        problems.push(`${name} has no label ${label}`);
    if (range !== '' && metric.type === 'gauge' && counterFunctions.has(lastFunction))
      problems.push(`${name} is a gauge, and ${lastFunction} needs a counter`);
  }
  for (const label of [...grouped, ...shown])
    if (!labels.has(label)) problems.push(`no metric of the query has the label ${label}`);
  return problems;
}

/** Units of durations, as in `[5m:1m]`, are not names. */
function withoutRangesAndMatchers(
  names: Iterable<RegExpMatchArray>,
  text: string,
): readonly RegExpMatchArray[] {
  return [...names].filter(({ index = 0 }) => {
    const before = text.slice(0, index);
    const isInRange = before.lastIndexOf('[') > before.lastIndexOf(']');
    return !isInRange && !/[\d$]$/.test(before);
  });
}

/** The metric of a series name, or what is wrong with it. */
function metricOf(name: string, known: KnownMetrics): KnownMetric | string {
  const own = known.get(name);
  if (own?.type === 'histogram') return `${name} is a histogram: use its _bucket, _sum or _count`;
  if (own !== undefined) return own;
  const [, base = '', part] = /^(.*)_(bucket|sum|count)$/.exec(name) ?? [];
  const histogram = known.get(base);
  if (histogram?.type !== 'histogram') return `${name} is not a metric`;
  const le = part === 'bucket' ? ['le'] : [];
  return { type: 'counter', labels: [...histogram.labels, ...le] };
}

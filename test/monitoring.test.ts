import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from './project-root.ts';
import { type KnownMetrics, knownMetrics, problemsOf } from './promql-names.ts';

const files = join(projectRoot, 'deploy/chart/files');
const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
// `metrics-page.test.ts` compares the page with the code.
const known: KnownMetrics = knownMetrics(read('docs/metrics.md'));

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const { groups } = parse(read('deploy/chart/files/alerts.yaml')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Alert[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const dashboards = readdirSync(join(files, 'dashboards')).map((name) => ({
  name,
  dashboard: JSON.parse(readFileSync(join(files, 'dashboards', name), 'utf8')) as Dashboard,
}));

describe('alerts', () => {
  test.each(alerts)('$alert asks for metrics and labels that exist', ({ expr, annotations }) => {
    const labels = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!);
    expect(problemsOf(expr, known, labels)).toEqual([]);
  });

  test.each(alerts)('$alert leads to a section of the runbook', ({ annotations }) => {
    const [url, anchor] = annotations.runbook_url.split('#');
    expect(url).toBe('https://stowage.dev/docs/runbook.md');
    expect(anchorsOf(read('docs/runbook.md'))).toContain(anchor);
  });

  test('have unique names, a severity and a duration', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const { labels, for: duration } of alerts) {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(duration).toMatch(/^\d+[smh]$/);
    }
  });

  test('are all named by the section that they lead to', () => {
    const runbook = read('docs/runbook.md');
    expect(alerts.filter(({ alert }) => !runbook.includes(`\`${alert}\``)).map(({ alert }) => alert)).toEqual(
      [],
    );
  });
});

describe.each(dashboards)('dashboard $name', ({ dashboard }) => {
  test('asks for metrics and labels that exist', () => {
    const problems = dashboard.panels.flatMap(({ title, targets }) =>
      targets.flatMap(({ expr, legendFormat }) => {
        const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
        return problemsOf(expr, known, labels).map((problem) => `${title}: ${problem}`);
      }),
    );
    expect(problems).toEqual([]);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });
});

test('dashboards have ids of their own', () => {
  expect(new Set(dashboards.map(({ dashboard }) => dashboard.uid)).size).toBe(dashboards.length);
});

test('findings of the doctor lead to sections of the runbook', () => {
  const anchors = anchorsOf(read('docs/runbook.md'));
  const named = [...read('docs/doctor.md').matchAll(/docs\/runbook\.md#([\w-]+)/g)].map(
    ([, anchor]) => anchor,
  );
  expect(named.filter((anchor) => !anchors.includes(anchor!))).toEqual([]);
});

describe('the check of queries', () => {
  test.each([
    ['rate(stowage_no_such_total[5m])', ['stowage_no_such_total is not a metric']],
    ['stowage_leader{zone="x"}', ['stowage_leader has no label zone']],
    ['sum by (queue) (stowage_leader)', ['no metric of the query has the label queue']],
    ['rate(stowage_leader[5m])', ['stowage_leader is a gauge, and rate needs a counter']],
    [
      'histogram_quantile(0.9, sum by (le) (rate(stowage_scheduler_bind_seconds[5m])))',
      [
        'stowage_scheduler_bind_seconds is a histogram: use its _bucket, _sum or _count',
        'no metric of the query has the label le',
      ],
    ],
    ['sum(stowage_leader{controller="a{b}c"}) > 1 or vector(0)', []],
  ])('finds what is wrong with %s', (expr, problems) => {
    expect(problemsOf(expr, known)).toEqual(problems);
  });
});

/** The anchors of all headings, as GitHub makes them. */
function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

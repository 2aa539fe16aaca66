/** The alerts and dashboards of the chart, read and evaluated by Prometheus' own parser and engine. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { projectRoot } from '../project-root.ts';
import { alertCases } from './testing/alert-cases.ts';
import { lacks } from './vitest-beds.ts';

const files = join(projectRoot, 'deploy/chart/files');
const rules = readFileSync(join(files, 'alerts.yaml'), 'utf8');

interface Question {
  readonly rules: string;
  readonly queries?: readonly string[];
  readonly cases?: readonly { readonly alert: string; readonly series: readonly string[] }[];
}

interface Answer {
  readonly problems: readonly string[];
  /** For each case, the labels of the alerts that fire. */
  readonly firing: readonly (readonly string[])[];
}

function ask(question: Question): Answer {
  const program = inject('kubernetesPrograms')['alert-check']!;
  const { stdout, stderr, status } = spawnSync(program, {
    input: JSON.stringify(question),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`alert-check: ${stderr}`);
  return JSON.parse(stdout) as Answer;
}

function queriesOfDashboards(): readonly string[] {
  const folder = join(files, 'dashboards');
  return readdirSync(folder).flatMap((name) => {
    const { panels } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
    };
    return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  });
}

describe.skipIf(lacks('alert-check'))('Prometheus', () => {
  test('accepts the rules, their templates, and every query of the dashboards', () => {
    const queries = queriesOfDashboards();
    expect(queries.length).toBeGreaterThan(20);
    expect(ask({ rules, queries }).problems).toEqual([]);
  });

  test.each([
    ['an unfinished query', { rules, queries: ['sum(stowage_leader'] }, 'unclosed left parenthesis'],
    [
      'a template that does not end',
      { rules: rules.replace('{{ $labels.controller }}.', '{{ $labels.controller') },
      'unclosed action',
    ],
    ['a misspelt field', { rules: rules.replace('for: 5m', 'fore: 5m') }, 'field fore not found'],
    ['a duration without a unit', { rules: rules.replace('[30m]', '[30 minutes]') }, 'parse error'],
  ])('reports %s', (_, question, problem) => {
    expect(ask(question).problems.join('\n')).toContain(problem);
  });

  test('has a case for every alert', () => {
    const named = [...rules.matchAll(/- alert: (\w+)/g)].map(([, alert]) => alert);
    expect([...new Set(alertCases.map(({ alert }) => alert))].toSorted()).toEqual(named.toSorted());
  });

  test('fires each alert for what it is about, with its labels, and not for what is close to it', () => {
    const cases = alertCases.flatMap(({ alert, fires, isQuiet }) => [
      { alert, series: fires },
      { alert, series: isQuiet },
    ]);
    const { firing } = ask({ rules, cases });
    const found = alertCases.map(({ alert }, at) => ({
      alert,
      fires: firing[2 * at],
      isQuiet: firing[2 * at + 1],
    }));
    const expected = alertCases.map(({ alert, labels }) => ({ alert, fires: [labels], isQuiet: [] }));
    expect(found).toEqual(expected);
  });
});

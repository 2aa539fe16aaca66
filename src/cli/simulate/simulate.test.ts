import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Coverage } from '../../simulation/coverage.ts';
import type { Scenario } from '../../simulation/scenario.ts';
import { scenarioOfSeed } from '../../simulation/seed-scenario.ts';
import type { SimulationResult } from '../../simulation/simulation.ts';
import { structured } from '../output/output-format.ts';
import { plainTerminal } from '../output/terminal.ts';
import { brokenSeedNames, renderSimulation } from './render.ts';
import { simulateCommand } from './run.ts';
import { readScenarioFile } from './scenario-file.ts';
import { runReportOf, simulationReportOf } from './simulation-report.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stowage-scenario-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(text: string): string {
  const path = join(folder, 'scenario.yaml');
  writeFileSync(path, text);
  return path;
}

describe('a scenario file', () => {
  const scenario = scenarioOfSeed(7);

  test.each(['json', 'yaml'] as const)('is read as it was printed in %s', (format) => {
    expect(readScenarioFile(fileWith(structured(scenario, format)))).toEqual(scenario);
  });

  test('may have the lines of dashes around it, a number as seed, and actions in any order', () => {
    const text = `---\nseed: 3\nreplicated: []\nlatencyMaxMs: 0\nactions:\n- {atMs: 9, action: cordon}\n- {atMs: 1, action: crash}\n---\n`;
    expect(readScenarioFile(fileWith(text))).toEqual({
      seed: '3',
      replicated: [],
      latencyMaxMs: 0,
      actions: [
        { atMs: 1, action: 'crash', parameters: {} },
        { atMs: 9, action: 'cordon', parameters: {} },
      ],
    });
  });

  const valid = { seed: '1', replicated: [], latencyMaxMs: 0, actions: [] };
  test.each<[string, object, RegExp]>([
    [
      'an unknown action',
      { ...valid, actions: [{ atMs: 1, action: 'explode', parameters: {} }] },
      /actions\[0\]\.action: there is no action "explode"; use one of create-pod, /,
    ],
    [
      'an unknown process',
      { ...valid, replicated: ['web'] },
      /replicated\[0\]: there is no process "web"; use one of scheduler, /,
    ],
    [
      'a time before the start',
      { ...valid, actions: [{ atMs: -1, action: 'crash' }] },
      /actions\[0\]\.atMs: is -1; give whole milliseconds, 0 or more/,
    ],
    [
      'an action without a time',
      { ...valid, actions: [{ action: 'crash' }] },
      /actions\[0\]: needs atMs and action/,
    ],
    [
      'a parameter that is a list',
      { ...valid, actions: [{ atMs: 1, action: 'crash', parameters: { process: ['a'] } }] },
      /actions\[0\]\.parameters\.process: is \["a"\]; give a text, a number, true or false/,
    ],
    [
      'an unknown field',
      { ...valid, replicas: 2 },
      /replicas: there is no such field; use one of subject, seed, /,
    ],
    ['a missing field', { seed: '1', replicated: [], actions: [] }, /latencyMaxMs: is missing/],
    ['a seed that is a list', { ...valid, seed: [] }, /seed: is \[\]; give a text or an integer/],
    ['no fields at all', [], /must have fields: subject, seed, replicated, latencyMaxMs, attaches, actions/],
  ])('with %s is refused with the field and the remedy', (_, content, message) => {
    const path = fileWith(JSON.stringify(content));
    expect(() => readScenarioFile(path)).toThrow(message);
    expect(() => readScenarioFile(path)).toThrow(`--from: ${path}: `);
  });

  test('that does not exist, or is no YAML, is refused', () => {
    expect(() => readScenarioFile(join(folder, 'missing'))).toThrow(/--from: cannot read .*missing: ENOENT/);
    expect(() => readScenarioFile(fileWith('a: [1'))).toThrow(/cannot read .* is JSON or YAML/);
  });
});

test.each([
  [{ seed: '-1' }, '--seed: "-1" must be an integer from 0 to'],
  [{ seed: '1.5' }, '--seed: "1.5" must be an integer'],
  [{ seeds: '0' }, '--seeds: "0" must be an integer from 1 to'],
  [{ seed: '1', seeds: '2' }, '--seed and --seeds exclude each other; give one of them'],
  [{ seed: '1', from: 'x' }, '--seed and --from exclude each other'],
  [{ trace: true }, '--trace prints one run; give --seed or --from with it'],
])('flags %j are refused', async (flags, message) => {
  await expect(simulateCommand({ output: 'table', ...flags })).rejects.toThrow(message);
});

describe('the output', () => {
  const scenario: Scenario = { ...scenarioOfSeed(7), latencyMaxMs: 5, replicated: ['volumes'] };
  const smallest: Scenario = { ...scenario, actions: scenario.actions.slice(0, 1) };
  const violation = { invariant: 'a volume serves one claim', detail: 'claims a and b have volume v' };
  const trace = Array.from({ length: 60 }, (_, at) => `line ${at + 1}`);
  const good: SimulationResult = {
    scenario: { ...scenario, seed: '6' },
    violations: [],
    trace,
    coverage: new Coverage(),
    faults: 3,
    versions: 120,
    elapsedMs: 725_400,
  };
  const bad: SimulationResult = { ...good, scenario, violations: [violation] };
  const broken = { result: bad, minimized: { scenario: smallest, violation, runs: 17 } };

  test('is a line for each run', () => {
    const report = simulationReportOf([runReportOf(good, {})], undefined, {});
    const [titles, line, ...rest] = renderSimulation(report, { terminal: plainTerminal, isWide: true }).split(
      '\n',
    );
    expect(titles?.split(/ {2,}/)).toEqual([
      'SEED',
      'ACTIONS',
      'FAULTS',
      'VERSIONS',
      'VIRTUAL TIME',
      'LATENCY',
      'REPLICATED',
      'RESULT',
    ]);
    const actions = String(scenario.actions.length);
    expect(line?.trim().split(/ +/)).toEqual(['6', actions, '3', '120', '12m05s', '5ms', 'volumes', 'ok']);
    expect(rest).toEqual(['']);
    expect(brokenSeedNames(report)).toBe('');
  });

  test('has the violation, the end of the trace, a scenario that can be saved, and the command', () => {
    const report = simulationReportOf(
      [good, bad].map((run) => runReportOf(run, {})),
      broken,
      {},
    );
    const text = renderSimulation(report, { terminal: plainTerminal, isWide: false });
    expect(text).toContain('Seed 7 breaks an invariant: a volume serves one claim\n  claims a and b');
    expect(text).toContain('the last 40 of 60 lines');
    expect(text).toContain('\nline 21\n');
    expect(text).not.toContain('\nline 20\n');
    expect(text).toContain('  stowage simulate --seed 7 --trace\n');
    const [, saved = ''] = text.split('\n---\n');
    expect(readScenarioFile(fileWith(saved))).toEqual(smallest);
    expect(brokenSeedNames(report)).toBe('seed/7\n');
  });

  test('with --trace has the whole trace once, and replays the file that it came from', () => {
    const flags = { trace: true, from: 'saved.yaml' };
    const text = renderSimulation(simulationReportOf([runReportOf(bad, flags)], broken, flags), {
      terminal: plainTerminal,
      isWide: false,
    });
    expect(text.match(/^line 1$/gm)).toHaveLength(1);
    expect(text.match(/^line 60$/gm)).toHaveLength(1);
    expect(text).toContain('stowage simulate --from saved.yaml --trace');
  });
});

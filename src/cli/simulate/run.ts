import { silentLog } from '../../runtime/log.ts';
import { minimize } from '../../simulation/minimize.ts';
import type { Scenario } from '../../simulation/scenario.ts';
import { scenarioOfSeed } from '../../simulation/seed-scenario.ts';
import { type SimulationResult, simulate } from '../../simulation/simulation.ts';
import { usage } from '../errors/cli-error.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { progressOf } from '../output/progress-of.ts';
import { terminalOf } from '../output/terminal.ts';
import { brokenSeedNames, renderSimulation } from './render.ts';
import { readScenarioFile } from './scenario-file.ts';
import {
  type BrokenRun,
  runReportOf,
  type SimulationReport,
  type SimulationRunReport,
  simulationReportOf,
} from './simulation-report.ts';

export interface SimulateFlags {
  readonly seed?: string;
  readonly seeds?: string;
  readonly from?: string;
  readonly trace?: boolean;
  readonly output: string;
}

const seedsDefault = 20;
const seedsMax = 1_000_000;

/** `stowage simulate`: runs scenarios, and shows the first invariant that is broken in a way that can be replayed. */
export async function simulateCommand(flags: SimulateFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const scenarios = scenariosOf(flags);
  const progress = progressOf(silentLog);
  const runs: SimulationRunReport[] = [];
  let broken: SimulationResult | undefined;
  try {
    for (const scenario of scenarios) {
      progress.tell(`seed ${scenario.seed}: ${runs.length} of ${scenarios.length} runs done`);
      const result = await simulate(scenario);
      runs.push(runReportOf(result, flags));
      if (result.violations.length > 0) broken ??= result;
    }
    const minimized = broken && (await minimizedRun(broken, (text) => progress.tell(text)));
    progress.end();
    process.stdout.write(rendered(simulationReportOf(runs, minimized, flags), format));
    if (broken !== undefined) process.exitCode = 1;
  } finally {
    progress.end();
  }
}

/** The runs that `--seed`, `--seeds` or `--from` name. */
function scenariosOf({ seed, seeds, from, trace }: SimulateFlags): readonly Scenario[] {
  const given = Object.entries({ seed, seeds, from }).filter(([, value]) => value !== undefined);
  if (given.length > 1)
    throw usage(`${given.map(([name]) => `--${name}`).join(' and ')} exclude each other; give one of them`);
  if (trace === true && seed === undefined && from === undefined)
    throw usage('--trace prints one run; give --seed or --from with it');
  if (from !== undefined) return [readScenarioFile(from)];
  if (seed !== undefined) return [scenarioOfSeed(integerOf('--seed', seed, 0, Number.MAX_SAFE_INTEGER))];
  const count = seeds === undefined ? seedsDefault : integerOf('--seeds', seeds, 1, seedsMax);
  return Array.from({ length: count }, (_, at) => scenarioOfSeed(at + 1));
}

function integerOf(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw usage(`${flag}: "${text}" must be an integer from ${min} to ${max}`);
}

async function minimizedRun(
  result: SimulationResult,
  onProgress: (text: string) => void,
): Promise<BrokenRun | undefined> {
  const { scenario, violations } = result;
  const [violation] = violations;
  if (violation === undefined) return undefined;
  const minimized = await minimize(scenario, violation, {
    onProgress: ({ runs, actions }) =>
      onProgress(`minimizing seed ${scenario.seed}: ${actions} actions left after ${runs} runs`),
  });
  return { result, minimized };
}

function rendered(report: SimulationReport, format: OutputFormat): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return structured(report, format);
    case 'name':
      return brokenSeedNames(report);
    case 'table':
    case 'wide':
      return renderSimulation(report, {
        terminal: terminalOf(process.stdout, process.env),
        isWide: format === 'wide',
      });
  }
}

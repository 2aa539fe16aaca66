import type { Violation } from '../../simulation/invariants/invariant.ts';
import type { MinimizedScenario } from '../../simulation/minimize.ts';
import type { Scenario } from '../../simulation/scenario.ts';
import type { SimulationResult } from '../../simulation/simulation.ts';

/** The output of `stowage simulate -o json`. Within a version, fields are only added. */
export interface SimulationReport {
  readonly apiVersion: 'stowage.dev/simulation/v1';
  readonly kind: 'SimulationReport';
  readonly runs: readonly SimulationRunReport[];
  /** The first run that broke an invariant. */
  readonly broken?: BrokenRunReport;
}

export interface SimulationRunReport {
  readonly seed: string;
  readonly actions: number;
  readonly faults: number;
  readonly versions: number;
  /** Virtual time. */
  readonly elapsedSeconds: number;
  /** Processes with two replicas. */
  readonly replicated: readonly string[];
  readonly latencyMaxMs: number;
  /** Empty if every invariant held. */
  readonly violations: readonly Violation[];
  /** Only if `--trace` is set. */
  readonly trace?: readonly string[];
}

export interface BrokenRunReport {
  readonly seed: string;
  readonly violation: Violation;
  /** The last lines before the violation; all with `--trace`. */
  readonly trace: readonly string[];
  readonly traceLength: number;
  /** The smallest scenario that was found; `--from` accepts it. */
  readonly scenario: Scenario;
  readonly minimizedIn: { readonly runs: number; readonly actionsBefore: number };
  /** The command that repeats the whole run. */
  readonly replay: string;
}

export interface BrokenRun {
  readonly result: SimulationResult;
  readonly minimized: MinimizedScenario;
}

/** Lines of the trace that are shown without `--trace`. */
const traceLinesMax = 40;

export interface ReportFlags {
  readonly from?: string;
  readonly trace?: boolean;
}

export function simulationReportOf(
  runs: readonly SimulationRunReport[],
  broken: BrokenRun | undefined,
  flags: ReportFlags,
): SimulationReport {
  return {
    apiVersion: 'stowage.dev/simulation/v1',
    kind: 'SimulationReport',
    runs,
    ...(broken !== undefined && { broken: brokenReportOf(broken, flags) }),
  };
}

/** The trace is rendered only if it is wanted: a thousand runs have a million lines. */
export function runReportOf(result: SimulationResult, { trace }: ReportFlags): SimulationRunReport {
  const { scenario, faults, versions, elapsedMs, violations } = result;
  return {
    seed: scenario.seed,
    actions: scenario.actions.length,
    faults,
    versions,
    elapsedSeconds: Math.round(elapsedMs / 1000),
    replicated: scenario.replicated,
    latencyMaxMs: scenario.latencyMaxMs,
    violations,
    ...(trace === true && { trace: result.trace }),
  };
}

function brokenReportOf({ result, minimized }: BrokenRun, { from, trace }: ReportFlags): BrokenRunReport {
  const { scenario, violations } = result;
  const source = from === undefined ? `--seed ${scenario.seed}` : `--from ${from}`;
  return {
    seed: scenario.seed,
    violation: violations[0] ?? minimized.violation,
    trace: trace === true ? result.trace : result.trace.slice(-traceLinesMax),
    traceLength: result.trace.length,
    scenario: minimized.scenario,
    minimizedIn: { runs: minimized.runs, actionsBefore: scenario.actions.length },
    replay: `stowage simulate ${source} --trace`,
  };
}

import { printableText } from '../../runtime/printable-text.ts';
import { structured } from '../output/output-format.ts';
import { type Style, styleOf } from '../output/style.ts';
import { type Column, table } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { BrokenRunReport, SimulationReport, SimulationRunReport } from './simulation-report.ts';

export interface RenderSimulationOptions {
  readonly terminal: Terminal;
  readonly isWide: boolean;
}

export function renderSimulation(report: SimulationReport, options: RenderSimulationOptions): string {
  const style = styleOf(options.terminal);
  const lines = [
    ...report.runs.flatMap(({ trace }) => trace ?? []).map(printableText),
    ...(report.runs.some(({ trace }) => trace !== undefined) ? [''] : []),
    ...table(columnsOf(options, style), report.runs, { width: options.terminal.width }),
    ...(report.broken === undefined ? [] : brokenLines(report, report.broken, style)),
  ];
  return `${lines.join('\n')}\n`;
}

/** The seeds that broke an invariant, one a line. */
export function brokenSeedNames({ runs }: SimulationReport): string {
  return runs
    .filter(({ violations }) => violations.length > 0)
    .map(({ seed }) => `seed/${printableText(seed)}\n`)
    .join('');
}

function columnsOf(
  { isWide }: RenderSimulationOptions,
  style: Style,
): readonly Column<SimulationRunReport>[] {
  const wide: readonly Column<SimulationRunReport>[] = [
    { title: 'LATENCY', cell: ({ latencyMaxMs }) => `${latencyMaxMs}ms`, align: 'right' },
    { title: 'REPLICATED', cell: ({ replicated }) => (replicated.length === 0 ? '-' : replicated.join(',')) },
  ];
  return [
    { title: 'SEED', cell: ({ seed }) => seed, align: 'right' },
    { title: 'ACTIONS', cell: ({ actions }) => String(actions), align: 'right' },
    { title: 'FAULTS', cell: ({ faults }) => String(faults), align: 'right' },
    { title: 'VERSIONS', cell: ({ versions }) => String(versions), align: 'right' },
    { title: 'VIRTUAL TIME', cell: ({ elapsedSeconds }) => durationText(elapsedSeconds), align: 'right' },
    ...(isWide ? wide : []),
    { title: 'RESULT', cell: ({ violations }) => resultText(violations[0]?.invariant, style) },
  ];
}

function resultText(invariant: string | undefined, style: Style): string {
  return invariant === undefined ? style.good('ok') : style.bad(`broken: ${invariant}`);
}

function durationText(seconds: number): string {
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

function brokenLines({ runs }: SimulationReport, broken: BrokenRunReport, style: Style): readonly string[] {
  const { violation, trace, traceLength, scenario, minimizedIn } = broken;
  const isTraceShown = runs.some((run) => run.trace !== undefined);
  const heading = `the last ${trace.length} of ${traceLength} lines; --trace prints all`;
  return [
    '',
    style.bad(`Seed ${broken.seed} breaks an invariant: ${violation.invariant}`),
    `  ${printableText(violation.detail)}`,
    ...(isTraceShown ? [] : ['', `${style.bold('TRACE')} (${heading})`, ...trace.map(printableText)]),
    '',
    `${style.bold('SMALLEST SCENARIO')} (${scenario.actions.length} of ${minimizedIn.actionsBefore} actions, found in ${minimizedIn.runs} runs)`,
    '---',
    structured(scenario, 'yaml').trimEnd(),
    '---',
    '',
    'Replay the whole run:',
    `  ${printableText(broken.replay)}`,
    'Replay the smallest scenario: save what is between the lines of dashes, then:',
    '  stowage simulate --from scenario.yaml --trace',
  ];
}

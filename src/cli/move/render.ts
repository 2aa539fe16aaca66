import { drainApiVersion, type LeftLine, type NodeCommand } from '../../queries/drain/drain-report.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { leftNames, renderCommands, renderLeft } from '../drain-plan/render.ts';
import { type OutputFormat, structured } from '../output/output-format.ts';
import { Page, type RenderOptions } from '../output/page.ts';
import type { Terminal } from '../output/terminal.ts';
import type { MoveOutcome } from './move-context.ts';

/** The output of `stowage move -o json`. */
export interface MoveReport {
  readonly apiVersion: string;
  readonly kind: 'MoveReport';
  /** `node/NAME` or `drive/NAME`. */
  readonly target: string;
  readonly state: MoveState;
  /** The changes that this call made, in order. */
  readonly changes: readonly string[];
  /** The objects that Stowage cannot move. */
  readonly left: readonly LeftLine[];
  /** The events that had not happened before `--timeout`. */
  readonly waiting: readonly string[];
  /** The commands to run on a node before another call can continue. */
  readonly commands: readonly NodeCommand[];
}

/**
 * - `Done`: nothing is left. `Left`: Stowage has done what it can.
 * - `Waiting`, `CommandsNeeded`: another call goes on.
 * - `GivenUp`: by `--undo`. `NoMove`: nothing was closed that `--undo` could open.
 */
export type MoveState = 'Done' | 'Left' | 'Waiting' | 'CommandsNeeded' | 'GivenUp' | 'NoMove';

/** Something is left, or something has to be waited for or run elsewhere. */
export const unfinishedStatus = 3;

export function moveReportOf(
  target: string,
  changes: readonly string[],
  outcome: MoveOutcome,
  state = stateOf(outcome),
): MoveReport {
  return { apiVersion: drainApiVersion, kind: 'MoveReport', target, state, changes, ...outcome };
}

function stateOf({ left, waiting, commands }: MoveOutcome): MoveState {
  if (commands.length > 0) return 'CommandsNeeded';
  if (waiting.length > 0) return 'Waiting';
  return left.length > 0 ? 'Left' : 'Done';
}

export function exitCodeOfMove({ state }: MoveReport): number {
  return state === 'Done' || state === 'GivenUp' || state === 'NoMove' ? 0 : unfinishedStatus;
}

/** The end of the output: as text, the changes have been printed already. */
export function renderedMove(report: MoveReport, format: OutputFormat, terminal: Terminal): string {
  if (format === 'json' || format === 'yaml') return structured(report, format);
  return format === 'name' ? leftNames(report) : renderMove(report, { terminal, isWide: format === 'wide' });
}

/** How it ended: what is left, what has to be waited for, and what has to be run on a node. */
function renderMove({ target, state, left, waiting, commands }: MoveReport, options: RenderOptions): string {
  const page = new Page(options);
  const name = printableText(target);
  page.line(stateText(name, state));
  renderCommands(page, commands);
  for (const text of commands.length > 0 ? [] : waiting) page.line(text, 2);
  renderLeft(page, left, options);
  return page.toString();
}

function stateText(name: string, state: MoveState): string {
  switch (state) {
    case 'Done':
      return `${name} is done`;
    case 'Left':
      return `${name}: Stowage has done what it can`;
    case 'Waiting':
      return `${name} is not empty yet; stowage move ${name} goes on:`;
    case 'CommandsNeeded':
      return `${name} is ready to be copied; run this, then stowage move ${name} again:`;
    case 'GivenUp':
      return `the move of ${name} was cancelled`;
    case 'NoMove':
      return `there is no move of ${name} to give up; if the drive is cordoned, ${uncordonText(name)} lets it take volumes again`;
  }
}

function uncordonText(name: string): string {
  return `stowage drives uncordon ${name.replace(/^drive\//, '')}`;
}

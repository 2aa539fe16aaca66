import {
  type LeaveReason,
  leaveReasons,
  type ZonalUpgrade,
} from '../../controllers/volumes/zonal-upgrade/decide-upgrade.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { type OutputFormat, structured } from '../output/output-format.ts';
import { harmless } from '../output/style.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { wrap } from '../output/wrap.ts';

export interface Outcome {
  readonly name: string;
  readonly upgrade: ZonalUpgrade | { readonly kind: 'fail'; readonly message: string };
}

/** The output of `upgrade-zonal-pvs -o json`. Within a version, fields are only added and never change their meaning. */
interface ZonalUpgradeReport {
  readonly apiVersion: 'stowage.dev/zonalupgrade/v1';
  readonly kind: 'ZonalUpgradeReport';
  /** True if nothing was written. */
  readonly dryRun: boolean;
  readonly volumes: readonly {
    readonly name: string;
    readonly action: Outcome['upgrade']['kind'];
    /** The affinity as text, or why there is none. */
    readonly detail: string;
    readonly nodeAffinity?: object;
  }[];
}

export interface ZonalReportOptions {
  readonly isDryRun: boolean;
  readonly format: OutputFormat;
  readonly terminal: Terminal;
}

/** Each volume that was or would be changed; `wide` also lists the volumes that need no change, which are counted otherwise. */
export function zonalReport(outcomes: readonly Outcome[], options: ZonalReportOptions): string {
  const { isDryRun, format } = options;
  switch (format) {
    case 'json':
    case 'yaml':
      return structured(dataOf(outcomes, isDryRun), format);
    case 'name':
      return outcomes
        .filter(({ upgrade }) => upgrade.kind === 'upgrade')
        .map(({ name }) => `persistentvolume/${printableText(name)}\n`)
        .join('');
    case 'table':
    case 'wide':
      return textOf(outcomes, options);
  }
}

function dataOf(outcomes: readonly Outcome[], dryRun: boolean): ZonalUpgradeReport {
  const volumes = outcomes.map(({ name, upgrade }) => ({
    name,
    action: upgrade.kind,
    detail: detailOf(upgrade),
    ...(upgrade.kind === 'upgrade' && { nodeAffinity: upgrade.nodeAffinity }),
  }));
  return { apiVersion: 'stowage.dev/zonalupgrade/v1', kind: 'ZonalUpgradeReport', dryRun, volumes };
}

function textOf(outcomes: readonly Outcome[], { isDryRun, format, terminal }: ZonalReportOptions): string {
  const isWide = format === 'wide';
  const shown = outcomes.filter(({ upgrade }) => isWide || upgrade.kind !== 'leave');
  // Every column was asked for, whole; terminals wrap longer lines.
  const width = isWide ? undefined : terminal.width;
  const summary = wrap(summaryOf(outcomes, isDryRun), { width: terminal.width, hanging: 0 });
  const parts = shown.length === 0 ? [summary] : [volumeLines(shown, isDryRun, width), summary];
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Reasons are never truncated, because they say what to correct: where a table is too wide, each volume is a paragraph. */
function volumeLines(
  outcomes: readonly Outcome[],
  isDryRun: boolean,
  width: number | undefined,
): readonly string[] {
  const columns = [
    { title: 'NAME', cell: ({ name }: Outcome) => name },
    { title: 'ACTION', cell: ({ upgrade }: Outcome) => actionOf(upgrade, isDryRun) },
    { title: 'DETAIL', cell: ({ upgrade }: Outcome) => detailOf(upgrade) },
  ];
  const lines = table(columns, outcomes, { width: undefined });
  if (width === undefined || lines.every((line) => line.length <= width)) return lines;
  return outcomes.flatMap(({ name, upgrade }) =>
    wrap(harmless(`${name}: ${actionOf(upgrade, isDryRun)}: ${detailOf(upgrade)}`), { width }),
  );
}

function actionOf({ kind }: Outcome['upgrade'], isDryRun: boolean): string {
  switch (kind) {
    case 'upgrade':
      return isDryRun ? 'would upgrade' : 'upgraded';
    case 'refuse':
      return 'refused';
    case 'fail':
      return 'failed';
    case 'leave':
      return 'left alone';
  }
}

function detailOf(upgrade: Outcome['upgrade']): string {
  switch (upgrade.kind) {
    case 'upgrade':
      return termsOf(upgrade);
    case 'leave':
      return leaveReasons[upgrade.reason];
    case 'refuse':
    case 'fail':
      return upgrade.message;
  }
}

/** The phrases for one volume, and for several. */
const leftTexts: Readonly<Record<LeaveReason, readonly [one: string, several: string]>> = {
  HasNodeAffinity: ['already has a node affinity', 'already have a node affinity'],
  NoZoneLabels: ['has no zone or region label', 'have no zone or region label'],
  BeingDeleted: ['is being deleted', 'are being deleted'],
};

function summaryOf(outcomes: readonly Outcome[], isDryRun: boolean): string {
  if (outcomes.length === 0) return 'There are no PersistentVolumes, so there is nothing to upgrade.';
  const upgrades = outcomes.map(({ upgrade }) => upgrade);
  const ofKind = (wanted: Outcome['upgrade']['kind']) =>
    upgrades.filter(({ kind }) => kind === wanted).length;
  const leftFor = (wanted: string) =>
    upgrades.filter((upgrade) => upgrade.kind === 'leave' && upgrade.reason === wanted).length;
  const planned = ofKind('upgrade');
  const parts = [
    counted(
      planned,
      isDryRun ? ['would be upgraded', 'would be upgraded'] : ['was upgraded', 'were upgraded'],
    ),
    counted(ofKind('refuse'), ['is refused', 'are refused']),
    counted(ofKind('fail'), ['failed', 'failed']),
    ...Object.entries(leftTexts).map(([reason, texts]) => counted(leftFor(reason), texts)),
  ];
  const hint = isDryRun && planned > 0 ? ' Nothing was written; --dry-run=false writes.' : '';
  return `${counted(outcomes.length, ['volume', 'volumes'])}: ${parts.filter((part) => part !== undefined).join(', ')}.${hint}`;
}

function counted(count: number, [one, several]: readonly [string, string]): string | undefined {
  return count === 0 ? undefined : `${count.toLocaleString('en-US')} ${count === 1 ? one : several}`;
}

function termsOf({ nodeAffinity }: Extract<ZonalUpgrade, { kind: 'upgrade' }>): string {
  const terms = nodeAffinity.required?.nodeSelectorTerms ?? [];
  return terms
    .map(({ matchExpressions = [] }) =>
      matchExpressions.map(({ key, values = [] }) => `${key} in (${values.join(', ')})`).join(' and '),
    )
    .join(' or ');
}

import { leaveReasons, type ZonalUpgrade } from '../controllers/volumes/zonal-upgrade/decide-upgrade.ts';
import { printableText } from '../runtime/printable-text.ts';
import { type OutputFormat, structured } from './output/output-format.ts';
import { table } from './output/table.ts';

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

/** One line for each volume that was or would be changed; `wide` also lists the volumes that need no change, which are counted otherwise. */
export function zonalReport(outcomes: readonly Outcome[], isDryRun: boolean, format: OutputFormat): string {
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
      return tableOf(outcomes, isDryRun, format === 'wide');
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

function tableOf(outcomes: readonly Outcome[], isDryRun: boolean, isWide: boolean): string {
  const shown = outcomes.filter(({ upgrade }) => isWide || upgrade.kind !== 'leave');
  const columns = [
    { title: 'NAME', cell: ({ name }: Outcome) => name },
    { title: 'ACTION', cell: ({ upgrade }: Outcome) => actionOf(upgrade, isDryRun) },
    { title: 'DETAIL', cell: ({ upgrade }: Outcome) => detailOf(upgrade) },
  ];
  // Reasons are never truncated: they say what to correct.
  const lines = shown.length === 0 ? [] : table(columns, shown, { width: undefined });
  const isPlanned = outcomes.some(({ upgrade }) => upgrade.kind === 'upgrade');
  const hint = isDryRun && isPlanned ? '; nothing was written: --dry-run=false writes' : '';
  return `${[...lines, `${summaryOf(outcomes)}${hint}`].join('\n')}\n`;
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

function summaryOf(outcomes: readonly Outcome[]): string {
  if (outcomes.length === 0) return 'There are no PersistentVolumes, so there is nothing to upgrade.';
  const counts = new Map<string, number>();
  for (const { upgrade } of outcomes) {
    const what =
      upgrade.kind === 'leave' ? `left alone because ${leaveReasons[upgrade.reason]}` : upgrade.kind;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const parts = [...counts].map(([what, count]) => `${what}: ${count}`).sort();
  return [`volumes: ${outcomes.length}`, ...parts].join(', ');
}

function termsOf({ nodeAffinity }: Extract<ZonalUpgrade, { kind: 'upgrade' }>): string {
  const terms = nodeAffinity.required?.nodeSelectorTerms ?? [];
  return terms
    .map(({ matchExpressions = [] }) =>
      matchExpressions.map(({ key, values = [] }) => `${key} in (${values.join(', ')})`).join(' and '),
    )
    .join(' or ');
}

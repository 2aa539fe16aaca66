import { ApiError, isReason } from '../cluster/api-error.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { nodes, persistentVolumes } from '../cluster/resources.ts';
import { orAbsent } from '../controllers/or-absent.ts';
import { leaveReasons, type ZonalUpgrade } from '../controllers/volumes/zonal-upgrade/decide-upgrade.ts';
import { upgradeVolume } from '../controllers/volumes/zonal-upgrade/upgrade-volume.ts';
import type { Node, PersistentVolume } from '../kube/core.ts';
import { CliError, usage } from './cli-error.ts';
import { connect } from './connect.ts';
import { serverError } from './source/load-cluster.ts';

export interface UpgradeZonalPvsFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** As given: true where the flag stands alone. Left out, nothing is written either. */
  readonly dryRun?: boolean | string;
}

/** Somebody else may write a volume while we look at it. */
const attemptsMax = 3;

/**
 * `stowage upgrade-zonal-pvs`: gives volumes that have zone labels the node affinity that says the same. What it writes can't be
 * taken back, so it only lists unless `--dry-run=false`.
 */
export async function upgradeZonalPvs(flags: UpgradeZonalPvsFlags): Promise<void> {
  const isDryRun = isDryRunOf(flags);
  await using cluster = await connect(flags);
  const outcomes = await upgradeAll(cluster, { isDryRun, signal: new AbortController().signal }).catch(
    (error: unknown) => {
      throw serverError(error, cluster.server, cluster.source);
    },
  );
  process.stdout.write(report(outcomes, isDryRun));
  const undone = outcomes.filter(
    ({ upgrade }) => upgrade.kind === 'refuse' || upgrade.kind === 'fail',
  ).length;
  if (undone > 0) throw new CliError(`not upgraded: ${undone}; the list says why, and what to correct`);
}

export interface Outcome {
  readonly name: string;
  readonly upgrade: ZonalUpgrade | { readonly kind: 'fail'; readonly message: string };
}

/** One after the other, by name. One that fails does not keep the others, nor what was done from being told. */
export async function upgradeAll(
  cluster: Cluster,
  options: { readonly isDryRun: boolean; readonly signal: AbortSignal },
): Promise<readonly Outcome[]> {
  const { signal } = options;
  const volumes = await cluster.resource(persistentVolumes).list({ signal });
  const all = await cluster.resource(nodes).list({ signal });
  const outcomes: Outcome[] = [];
  for (const volume of volumes.items) {
    const upgrade = await upgradeOne(cluster, volume, { ...options, nodes: all.items });
    outcomes.push({ name: volume.metadata?.name ?? '', upgrade });
  }
  return outcomes;
}

async function upgradeOne(
  cluster: Cluster,
  volume: PersistentVolume,
  options: { readonly nodes: readonly Node[]; readonly isDryRun: boolean; readonly signal: AbortSignal },
): Promise<Outcome['upgrade']> {
  for (let attempt = 1, current = volume; ; attempt += 1) {
    try {
      return await upgradeVolume(cluster, current, options);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!isReason(error, 'Conflict') || attempt === attemptsMax)
        return { kind: 'fail', message: error.message };
      const name = volume.metadata?.name ?? '';
      const again = await orAbsent(
        cluster.resource(persistentVolumes).get({ name }, { signal: options.signal }),
      );
      if (again === undefined) return { kind: 'leave', reason: 'BeingDeleted' };
      current = again;
    }
  }
}

/** What was done, a volume in a line; those that are none of its business only as a number. */
export function report(outcomes: readonly Outcome[], isDryRun: boolean): string {
  const rows = outcomes.flatMap(({ name, upgrade }) => {
    if (upgrade.kind === 'upgrade')
      return [[name, isDryRun ? 'would upgrade' : 'upgraded', termsOf(upgrade)]];
    if (upgrade.kind === 'leave') return [];
    return [[name, upgrade.kind === 'refuse' ? 'refused' : 'failed', upgrade.message]];
  });
  const lines = rows.length === 0 ? [] : table([['NAME', 'ACTION', 'DETAIL'], ...rows]);
  const hint = isDryRun && rows.length > 0 ? '; nothing was written: --dry-run=false writes' : '';
  return `${[...lines, `${summaryOf(outcomes)}${hint}`].join('\n')}\n`;
}

function summaryOf(outcomes: readonly Outcome[]): string {
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

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row.map((cell, column) => cell.padEnd(column < 2 ? (widths[column] ?? 0) : 0)).join('   '),
  );
}

function isDryRunOf({ dryRun = true }: UpgradeZonalPvsFlags): boolean {
  if (typeof dryRun === 'boolean') return dryRun;
  if (dryRun === 'true' || dryRun === 'false') return dryRun === 'true';
  throw usage(`--dry-run: "${dryRun}" is neither true nor false`);
}

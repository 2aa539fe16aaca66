import type { Cluster } from '../../cluster/cluster.ts';
import { upgradeVolume } from '../../controllers/volumes/zonal-upgrade/upgrade-volume.ts';
import type { Node, PersistentVolume } from '../../kube/api/core.ts';
import { ApiError, isReason } from '../../kube/api-error.ts';
import { nodes, persistentVolumes } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { serverError } from '../errors/server-error.ts';
import { type LogFlags, logForReading } from '../flags/log-flags.ts';
import { outputFormatOf } from '../output/output-format.ts';
import { terminalOf } from '../output/terminal.ts';
import { connect } from '../source/connect.ts';
import { type Outcome, zonalReport } from './render.ts';

export interface UpgradeZonalPvsFlags extends Pick<LogFlags, 'verbose'> {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: string;
  /** As given: true where the flag stands alone. Left out, nothing is written either. */
  readonly dryRun?: boolean | string;
}

/** How often a volume is retried that another client changes at the same time. */
const attemptsMax = 3;

/**
 * `stowage upgrade-zonal-pvs`: gives volumes that have zone labels the node affinity that says the same. The
 * change can't be undone, so it only lists the changes unless `--dry-run=false`.
 */
export async function upgradeZonalPvs(flags: UpgradeZonalPvsFlags): Promise<void> {
  const isDryRun = isDryRunOf(flags);
  const format = outputFormatOf(flags.output);
  await using cluster = await connect(flags, { log: logForReading(flags) });
  const outcomes = await upgradeAll(cluster, { isDryRun, signal: new AbortController().signal }).catch(
    (error: unknown) => {
      throw serverError(error, cluster);
    },
  );
  const terminal = terminalOf(process.stdout, process.env);
  process.stdout.write(zonalReport(outcomes, { isDryRun, format, terminal }));
  const undone = outcomes.filter(
    ({ upgrade }) => upgrade.kind === 'refuse' || upgrade.kind === 'fail',
  ).length;
  if (undone === 0) return;
  const what = undone === 1 ? '1 volume' : `${undone} volumes`;
  const outcome = isDryRun ? 'cannot be' : undone === 1 ? 'was not' : 'were not';
  throw new CliError(`${what} ${outcome} upgraded; the list says why and what to correct`);
}

/** Upgrades one volume after the other, by name. A failure stops neither the others nor the report. */
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
      const again = await undefinedIfNotFound(
        cluster.resource(persistentVolumes).get({ name }, { signal: options.signal }),
      );
      if (again === undefined) return { kind: 'leave', reason: 'BeingDeleted' };
      current = again;
    }
  }
}

function isDryRunOf({ dryRun = true }: UpgradeZonalPvsFlags): boolean {
  if (typeof dryRun === 'boolean') return dryRun;
  if (dryRun === 'true' || dryRun === 'false') return dryRun === 'true';
  throw usage(`--dry-run: "${dryRun}" must be true or false`);
}

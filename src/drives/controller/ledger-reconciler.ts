import type { Cluster } from '../../cluster/cluster.ts';
import {
  auditLedgers,
  type LedgerFinding,
  ledgerFindingsText,
  ledgerFindingText,
} from '../../engine/drives/ledger-audit.ts';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import { getCondition, setCondition } from '../../kube/conditions.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { type Drive, drives } from '../../kube/stowage/drive.ts';
import { type EventRecorder, referenceTo } from '../../reconcile/event-recorder.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { GaugeMetric, Metrics } from '../../runtime/metrics.ts';
import type { LedgerObjects, LedgerSource } from './ledger-source.ts';

/** The interval between comparisons. A difference that two comparisons find is not a change in progress. */
const auditMs = 30_000;

/** A condition of Drives whose ledger and PersistentVolumes did not agree at least once. */
const ledgerMatches = 'LedgerMatches';

export interface LedgerReconcilerOptions {
  readonly source: LedgerSource;
  readonly cluster: Cluster;
  readonly events: EventRecorder;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Receives what will be tried again. */
  readonly onError: (error: unknown, drive: string) => void;
}

/**
 * Names entries that nothing uses, and PersistentVolumes without an entry: as the condition `LedgerMatches` and an Event of the Drive, and in a
 * metric. It never removes anything. Drives without findings cost no write.
 *
 * Each write carries the version that was read, and the next comparison repeats one that failed, so it may die after any of them.
 */
export class LedgerReconciler {
  readonly #options: LedgerReconcilerOptions;
  readonly #found: GaugeMetric;
  /** Findings of the last comparison. */
  #last: ReadonlySet<string> = new Set();
  /** Missing entries that have been named. */
  #named: ReadonlySet<string> = new Set();

  constructor(options: LedgerReconcilerOptions) {
    this.#options = options;
    this.#found = options.metrics.gauge(
      'stowage_drive_ledger_findings',
      'Entries of ledgers that nothing uses (leak), and PersistentVolumes without an entry (missing).',
      ['kind'],
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    const { source, clock, onError } = this.#options;
    if (!(await source.synced(signal))) return;
    while (!signal.aborted) {
      try {
        await this.#audit(await source.read(signal), signal);
      } catch (error) {
        if (!signal.aborted) onError(error, '');
      }
      await clock.sleep(auditMs, signal);
    }
  }

  async #audit(objects: LedgerObjects, signal: AbortSignal): Promise<void> {
    const findings = auditLedgers(objects);
    const confirmed = findings.filter((finding) => this.#last.has(keyOf(finding)));
    this.#last = new Set(findings.map(keyOf));
    for (const kind of ['leak', 'missing'] as const)
      this.#found.set(confirmed.filter((finding) => finding.kind === kind).length, { kind });
    this.#nameMissing(confirmed, objects.volumes);
    for (const [drive, found] of toReport(confirmed, objects.drives))
      await this.#report(drive, found, signal);
  }

  /** The drive that a PersistentVolume names may not exist, so the PersistentVolume gets an Event of its own. */
  #nameMissing(findings: readonly LedgerFinding[], volumes: readonly PersistentVolume[]): void {
    const { events } = this.#options;
    const missing = findings.filter(({ kind }) => kind === 'missing');
    for (const finding of missing) {
      if (this.#named.has(keyOf(finding))) continue;
      const volume = volumes.find(({ spec }) => spec?.csi?.volumeHandle === finding.volume);
      if (volume === undefined) continue;
      const where = finding.drive === '' ? '' : ` of drive ${finding.drive}`;
      events.record({
        regarding: referenceTo(volume, { apiVersion: 'v1', kind: 'PersistentVolume' }),
        type: 'Warning',
        reason: 'MissingEntry',
        action: 'ComparingLedger',
        note: `${ledgerFindingText(finding)}${where}: its bytes are not counted`,
      });
    }
    this.#named = new Set(missing.map(keyOf));
  }

  async #report(drive: Drive, findings: readonly LedgerFinding[], signal: AbortSignal): Promise<void> {
    const { cluster, clock, events, onError } = this.#options;
    const now = formatTimestamp(clock.nowMs());
    const conditions = setCondition(drive.status?.conditions, conditionOf(findings), now);
    if (conditions === drive.status?.conditions) return;
    const { name = '' } = drive.metadata ?? {};
    const body = withPreconditions(drive, { status: { conditions } });
    try {
      const options = { subresource: 'status', signal };
      await cluster.resource(drives).patch({ name }, { type: 'merge', body }, options);
    } catch (error) {
      if (signal.aborted) return;
      // The drive has changed meanwhile; the next comparison reads it again.
      if (!isReason(error, 'Conflict', 'NotFound')) onError(error, name);
      return;
    }
    if (findings.length > 0)
      events.record({
        regarding: referenceTo(drive, { apiVersion: 'stowage.dev/v1alpha1', kind: 'Drive' }),
        type: 'Warning',
        reason: reasonOf(findings),
        action: 'ComparingLedger',
        note: ledgerFindingsText(findings),
      });
  }
}

/** Drives with findings, and those that have the condition from before. */
function toReport(
  findings: readonly LedgerFinding[],
  all: readonly Drive[],
): ReadonlyMap<Drive, readonly LedgerFinding[]> {
  const byName = new Map<string, LedgerFinding[]>();
  for (const finding of findings) byName.set(finding.drive, [...(byName.get(finding.drive) ?? []), finding]);
  const reported = new Map<Drive, readonly LedgerFinding[]>();
  for (const drive of all) {
    const found = byName.get(drive.metadata?.name ?? '') ?? [];
    const hasCondition = getCondition(drive.status?.conditions, ledgerMatches) !== undefined;
    if (found.length > 0 || hasCondition) reported.set(drive, found);
  }
  return reported;
}

function conditionOf(findings: readonly LedgerFinding[]) {
  return findings.length === 0
    ? { type: ledgerMatches, status: 'True' as const, reason: 'Matches', message: 'every entry is in use' }
    : {
        type: ledgerMatches,
        status: 'False' as const,
        reason: reasonOf(findings),
        message: ledgerFindingsText(findings),
      };
}

function reasonOf(findings: readonly LedgerFinding[]): string {
  return findings.some(({ kind }) => kind === 'leak') ? 'LeakedVolumes' : 'MissingEntries';
}

function keyOf({ kind, drive, volume }: LedgerFinding): string {
  return `${kind} ${drive} ${volume}`;
}

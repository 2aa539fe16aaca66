import { auditLedgers, type LedgerFinding, ledgerFindingText } from '../../engine/drives/ledger-audit.ts';
import { isReason } from '../../kube/api-error.ts';
import { getCondition, setCondition } from '../../kube/conditions.ts';
import { type Drive, drives } from '../../kube/drive.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { referenceTo } from '../../reconcile/event-recorder.ts';
import type { GaugeMetric } from '../../runtime/metrics.ts';

/** How often ledgers are compared. What two comparisons find is no change in progress. */
const auditMs = 60_000;
/** Volumes that a condition names; the metric counts all. */
const namedMax = 5;

/** On a Drive whose ledger and PersistentVolumes did not agree at least once. */
const ledgerMatches = 'LedgerMatches';

type LedgerReconcilerContext = Pick<
  ControllerContext,
  'cluster' | 'informers' | 'events' | 'metrics' | 'clock' | 'report'
>;

/**
 * Names entries that nothing uses, and PersistentVolumes without an entry: as the condition `LedgerMatches` and an Event of the Drive, and in a
 * metric. It never removes anything. Drives without findings cost no write.
 *
 * Each write carries the version that was read, and the next comparison repeats one that failed, so it may die after any of them.
 */
export class LedgerReconciler {
  readonly #context: LedgerReconcilerContext;
  readonly #found: GaugeMetric;
  /** Findings of the last comparison. */
  #last: ReadonlySet<string> = new Set();
  /** Missing entries that have been named. */
  #named: ReadonlySet<string> = new Set();

  constructor(context: LedgerReconcilerContext) {
    this.#context = context;
    this.#found = context.metrics.gauge(
      'stowage_drive_ledger_findings',
      'Entries of ledgers that nothing uses (leak), and PersistentVolumes without an entry (missing).',
      ['kind'],
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    const { informers, clock } = this.#context;
    const caches = [
      informers.of(drives),
      informers.of(persistentVolumes),
      informers.of(persistentVolumeClaims),
      informers.of(pods),
    ];
    for (const cache of caches) if (!(await cache.synced(signal))) return;
    while (!signal.aborted) {
      await this.#audit(signal);
      await clock.sleep(auditMs, signal);
    }
  }

  async #audit(signal: AbortSignal): Promise<void> {
    const { informers } = this.#context;
    const findings = auditLedgers({
      drives: informers.of(drives).values(),
      volumes: informers.of(persistentVolumes).values(),
      claimNamed: (key) => informers.of(persistentVolumeClaims).get(key),
      podNamed: (key) => informers.of(pods).get(key),
    });
    const confirmed = findings.filter((finding) => this.#last.has(keyOf(finding)));
    this.#last = new Set(findings.map(keyOf));
    for (const kind of ['leak', 'missing'] as const)
      this.#found.set(confirmed.filter((finding) => finding.kind === kind).length, { kind });
    this.#nameMissing(confirmed);
    for (const [drive, found] of this.#toReport(confirmed)) await this.#report(drive, found, signal);
  }

  /** Drives with findings, and those that have the condition from before. The cache changes while they are written, so this is a copy. */
  #toReport(findings: readonly LedgerFinding[]): ReadonlyMap<Drive, readonly LedgerFinding[]> {
    const byName = new Map<string, LedgerFinding[]>();
    for (const finding of findings)
      byName.set(finding.drive, [...(byName.get(finding.drive) ?? []), finding]);
    const reported = new Map<Drive, readonly LedgerFinding[]>();
    for (const drive of this.#context.informers.of(drives).values()) {
      const found = byName.get(drive.metadata?.name ?? '') ?? [];
      const hasCondition = getCondition(drive.status?.conditions, ledgerMatches) !== undefined;
      if (found.length > 0 || hasCondition) reported.set(drive as Drive, found);
    }
    return reported;
  }

  /** The drive that a PersistentVolume names may not exist, so the PersistentVolume gets an Event of its own. */
  #nameMissing(findings: readonly LedgerFinding[]): void {
    const { informers, events } = this.#context;
    const missing = findings.filter(({ kind }) => kind === 'missing');
    for (const finding of missing) {
      const volume = informers.of(persistentVolumes).get(finding.volume);
      if (volume === undefined || this.#named.has(keyOf(finding))) continue;
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
    const { cluster, clock, events, report } = this.#context;
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
      if (!isReason(error, 'Conflict', 'NotFound')) report({ controller: 'drives', key: name, error });
      return;
    }
    if (findings.length > 0)
      events.record({
        regarding: referenceTo(drive, { apiVersion: 'stowage.dev/v1alpha1', kind: 'Drive' }),
        type: 'Warning',
        reason: reasonOf(findings),
        action: 'ComparingLedger',
        note: textOf(findings),
      });
  }
}

function conditionOf(findings: readonly LedgerFinding[]) {
  return findings.length === 0
    ? { type: ledgerMatches, status: 'True' as const, reason: 'Matches', message: 'every entry is in use' }
    : {
        type: ledgerMatches,
        status: 'False' as const,
        reason: reasonOf(findings),
        message: textOf(findings),
      };
}

function reasonOf(findings: readonly LedgerFinding[]): string {
  return findings.some(({ kind }) => kind === 'leak') ? 'LeakedVolumes' : 'MissingEntries';
}

function textOf(findings: readonly LedgerFinding[]): string {
  const more = findings.length > namedMax ? `; and ${findings.length - namedMax} more` : '';
  return `${findings.slice(0, namedMax).map(ledgerFindingText).join('; ')}${more}`;
}

function keyOf({ kind, drive, volume }: LedgerFinding): string {
  return `${kind} ${drive} ${volume}`;
}

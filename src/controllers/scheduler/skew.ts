import type { Lease } from '../../kube/api/coordination.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { leases } from '../../kube/resources.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { referenceTo } from '../../reconcile/event-recorder.ts';
import { Reflector } from '../../reconcile/informer/reflector.ts';
import {
  announcementOf,
  type ComponentAnnouncement,
  leaseKeyOf,
} from '../../reconcile/leases/component-lease.ts';
import type { Timer } from '../../runtime/clock.ts';

const pvBinderKey = leaseKeyOf('pv-binder');
/** A PV binder that starts together with the scheduler has renewed its Lease by then. No problem is reported before. */
const graceMs = 15_000;

export interface PvBinderSkewState {
  /** Whether the scheduler may bind volumes together with their pods. */
  readonly bindsVolumes: boolean;
  /** The mismatch between the two components, and its remedy. */
  readonly problem: string | undefined;
}

export interface PvBinderSkewOptions
  extends Pick<ControllerContext, 'cluster' | 'clock' | 'random' | 'events' | 'report'> {
  /** The scheduler's feature gates. */
  readonly ownGates: ComponentAnnouncement['gates'];
  readonly ownVersion: string;
  /** Called when the state is first known, and whenever it changes. Must neither throw nor wait. */
  readonly onChange: (state: PvBinderSkewState) => void;
  readonly signal: AbortSignal;
}

/**
 * Compares the scheduler with the PV binder, which announces its version and feature gates on its Lease, and chooses the safe behaviour.
 * While a cluster with several control planes is upgraded, either of the two may be the newer one.
 *
 * | VolumeScheduling in the PV binder | in the scheduler | result |
 * |---|---|---|
 * | no PV binder, or its Lease has expired | any | Kubernetes' own PV controller is running: it delays binding |
 * | off | on | the PV binder binds claims immediately; the scheduler does not bind volumes |
 * | on | off | claims that wait for their first consumer stay unbound, and their pods pending |
 */
export class PvBinderSkew {
  readonly #options: PvBinderSkewOptions;
  #lease: Lease | undefined;
  /** When the Lease expires, on the monotonic clock. */
  #validUntilMs = 0;
  /** A renewal of the Lease has been observed. */
  #wasRenewed = false;
  #isInReplace = false;
  #wasSeenInReplace = false;
  #graceUntilMs = 0;
  #timer: Timer | undefined;
  #state: PvBinderSkewState | undefined;
  #reported: ReadonlySet<string> = new Set();

  constructor(options: PvBinderSkewOptions) {
    this.#options = options;
  }

  /** Runs until the signal aborts. */
  async run(): Promise<void> {
    const { cluster, clock, random, report, signal } = this.#options;
    this.#graceUntilMs = clock.monotonicMs() + graceMs;
    const { namespace, name } = pvBinderKey;
    const reflector = new Reflector<Lease>({
      client: cluster.resource(leases),
      selection: { namespace, fieldSelector: `metadata.name=${name}` },
      clock,
      random: random.fork('skew'),
      onError: (error) => report({ controller: 'scheduler', key: reportKey, error }),
      sink: {
        beginReplace: () => this.#beginReplace(),
        endReplace: () => this.#endReplace(),
        upsert: (lease) => this.#observe(lease),
        remove: () => this.#observe(undefined),
      },
    });
    try {
      await reflector.run(signal);
    } finally {
      this.#timer?.cancel();
    }
  }

  #beginReplace(): void {
    this.#isInReplace = true;
    this.#wasSeenInReplace = false;
  }

  #endReplace(): void {
    this.#isInReplace = false;
    if (!this.#wasSeenInReplace) this.#lease = undefined;
    this.#evaluate();
  }

  #observe(lease: Lease | undefined): void {
    const { clock } = this.#options;
    this.#wasSeenInReplace = true;
    const isChanged = lease?.metadata?.resourceVersion !== this.#lease?.metadata?.resourceVersion;
    // A Lease that changes was renewed just now, whatever the holder's clock says. One that is found in a list may be old.
    if (lease !== undefined && isChanged) {
      const isFound = this.#isInReplace && this.#lease === undefined;
      this.#wasRenewed = !isFound;
      const remainingMs = isFound ? remainingByWallClock(lease, clock.nowMs()) : durationMsOf(lease);
      this.#validUntilMs = clock.monotonicMs() + remainingMs;
    }
    this.#lease = lease;
    if (!this.#isInReplace) this.#evaluate();
  }

  #evaluate(): void {
    const { clock, ownGates, ownVersion, onChange, signal } = this.#options;
    if (signal.aborted) return;
    const nowMs = clock.monotonicMs();
    // A released Lease expires within a second. A Lease without a holder belongs to a PV binder without leader election.
    const lease = nowMs < this.#validUntilMs ? this.#lease : undefined;
    const isInGracePeriod = (lease === undefined || !this.#wasRenewed) && nowMs < this.#graceUntilMs;
    this.#evaluateLater(nowMs);
    const own = { version: ownVersion, gates: ownGates };
    const comparison = compare(own, lease === undefined ? undefined : announcementOf(lease));
    const problems = isInGracePeriod ? [] : comparison.problems;
    this.#report(problems, lease);
    const problem = problems.length === 0 ? undefined : problems.map(({ note }) => note).join('. ');
    const state: PvBinderSkewState = { bindsVolumes: comparison.bindsVolumes, problem };
    if (this.#state?.bindsVolumes === state.bindsVolumes && this.#state.problem === problem) return;
    this.#state = state;
    onChange(state);
  }

  /** The result also changes when the Lease expires, and when the grace period ends. */
  #evaluateLater(nowMs: number): void {
    this.#timer?.cancel();
    const deadlines = [this.#graceUntilMs, this.#validUntilMs].filter((atMs) => atMs > nowMs);
    if (deadlines.length === 0) return;
    this.#timer = this.#options.clock.after(Math.min(...deadlines) - nowMs, () => this.#evaluate());
  }

  /** Reports each problem once, until it disappears and comes back. */
  #report(problems: readonly Problem[], lease: Lease | undefined): void {
    const { events, report } = this.#options;
    for (const { reason, note } of problems.filter(({ note }) => !this.#reported.has(note))) {
      report({ controller: 'scheduler', key: reportKey, error: new Error(note) });
      const regarding = referenceTo(lease ?? { metadata: pvBinderKey }, {
        apiVersion: apiVersionOf(leases),
        kind: leases.kind,
      });
      events.record({ regarding, type: 'Warning', reason, action: 'Comparing', note });
    }
    this.#reported = new Set(problems.map(({ note }) => note));
  }
}

const reportKey = `lease ${pvBinderKey.namespace}/${pvBinderKey.name}`;

interface Problem {
  readonly reason: 'GateSkew' | 'VersionSkew';
  readonly note: string;
}

interface Comparison {
  readonly bindsVolumes: boolean;
  readonly problems: readonly Problem[];
}

/** `theirs` is undefined if Kubernetes' own PV controller binds. */
function compare(own: ComponentAnnouncement, theirs: ComponentAnnouncement | undefined): Comparison {
  const isOurs = own.gates.VolumeScheduling ?? true;
  const isTheirs = theirs?.gates.VolumeScheduling ?? true;
  const gate = isOurs === isTheirs ? [] : [gateSkew(isOurs, theirs)];
  const version = theirs === undefined ? [] : versionSkew(own.version, theirs.version);
  return { bindsVolumes: isOurs && isTheirs, problems: [...gate, ...version] };
}

function gateSkew(isOurs: boolean, theirs: ComponentAnnouncement | undefined): Problem {
  const binder =
    theirs === undefined ? "Kubernetes' PV controller" : `the PV binder${suffix(theirs.version)}`;
  const note = isOurs
    ? `VolumeScheduling is off in ${binder} and on in the scheduler: claims are bound at once, and the scheduler does not bind volumes; ` +
      'start the PV binder with --feature-gates VolumeScheduling=true'
    : `VolumeScheduling is on in ${binder} and off in the scheduler: claims that wait for their first consumer are not bound, and their pods ` +
      'wait; start the scheduler with --feature-gates VolumeScheduling=true';
  return { reason: 'GateSkew', note };
}

function suffix(version: string): string {
  return version === '' ? '' : ` (${version})`;
}

/** Patch releases are compatible. An unknown version cannot be compared. */
function versionSkew(own: string, theirs: string): readonly Problem[] {
  if (own === '' || theirs === '' || minorOf(own) === minorOf(theirs)) return [];
  const note = `the PV binder is ${theirs} and the scheduler is ${own}; bring both to the same version`;
  return [{ reason: 'VersionSkew', note }];
}

/** `1.4` of `v1.4.2-rc.1`; any other text as it is. */
function minorOf(version: string): string {
  return /^v?(\d+\.\d+)\b/.exec(version)?.[1] ?? version;
}

function durationMsOf({ spec }: Lease): number {
  return (spec?.leaseDurationSeconds ?? 0) * 1000;
}

function remainingByWallClock(lease: Lease, nowMs: number): number {
  const durationMs = durationMsOf(lease);
  const renewedMs = parseTimestamp(lease.spec?.renewTime) ?? nowMs;
  return Math.min(Math.max(renewedMs + durationMs - nowMs, 0), durationMs);
}

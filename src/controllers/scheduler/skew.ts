import type { Lease } from '../../kube/api/coordination.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { leases } from '../../kube/resources.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { referenceTo } from '../../reconcile/event-recorder.ts';
import { Reflector } from '../../reconcile/informer/reflector.ts';
import { type ComponentAnnouncement, announcementOf, leaseKeyOf } from '../../reconcile/leases/component-lease.ts';
import type { Timer } from '../../runtime/clock.ts';

const pvBinderKey = leaseKeyOf('pv-binder');
/** A PV binder that starts with us has said so by then: that there is none, or what a former one left behind, is no problem before. */
const graceMs = 15_000;

export interface PvBinderSkewState {
  /** Whether the scheduler may bind volumes with their pods. */
  readonly bindsVolumes: boolean;
  /** What is wrong between the components, and the remedy. */
  readonly problem: string | undefined;
}

export interface PvBinderSkewOptions
  extends Pick<ControllerContext, 'cluster' | 'clock' | 'random' | 'events' | 'report'> {
  /** Of the scheduler. */
  readonly ownGates: ComponentAnnouncement['gates'];
  readonly ownVersion: string;
  /** Told the state when it is first known, and whenever either part of it is another. Must neither throw nor wait. */
  readonly onChange: (state: PvBinderSkewState) => void;
  readonly signal: AbortSignal;
}

/**
 * Compares the scheduler with the PV binder, by what that one says on its Lease, and tells what is on the safe side. While a cluster
 * with several masters is upgraded, either may be the newer one.
 *
 * | PV binder | scheduler | |
 * |---|---|---|
 * | none, or its Lease ran out | any | Kubernetes' own PV controller is there: it delays binding |
 * | off | on | it binds claims at once; the scheduler leaves volumes alone |
 * | on | off | claims that wait for their first consumer go on waiting, and so do their pods |
 */
export class PvBinderSkew {
  readonly #options: PvBinderSkewOptions;
  #lease: Lease | undefined;
  /** Until when the Lease holds, on the monotonic clock. */
  #validUntilMs = 0;
  /** It was renewed before our eyes. */
  #isAlive = false;
  #isInReplace = false;
  #wasSeenInReplace = false;
  #graceUntilMs = 0;
  #timer: Timer | undefined;
  #state: PvBinderSkewState | undefined;
  #reported: ReadonlySet<string> = new Set();

  constructor(options: PvBinderSkewOptions) {
    this.#options = options;
  }

  /** Until the signal aborts. */
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
    this.#judge();
  }

  #observe(lease: Lease | undefined): void {
    const { clock } = this.#options;
    this.#wasSeenInReplace = true;
    const isNews = lease?.metadata?.resourceVersion !== this.#lease?.metadata?.resourceVersion;
    // One that is seen to change was renewed just now, whatever the clock of its holder says. One that is found may be old.
    if (lease !== undefined && isNews) {
      const isFound = this.#isInReplace && this.#lease === undefined;
      this.#isAlive = !isFound;
      const leftMs = isFound ? leftByWallClock(lease, clock.nowMs()) : durationMsOf(lease);
      this.#validUntilMs = clock.monotonicMs() + leftMs;
    }
    this.#lease = lease;
    if (!this.#isInReplace) this.#judge();
  }

  #judge(): void {
    const { clock, ownGates, ownVersion, onChange, signal } = this.#options;
    if (signal.aborted) return;
    const nowMs = clock.monotonicMs();
    // One that was given back runs out within a second; one that nobody holds tells of a binder that runs without election.
    const lease = nowMs < this.#validUntilMs ? this.#lease : undefined;
    const isTooSoon = (lease === undefined || !this.#isAlive) && nowMs < this.#graceUntilMs;
    this.#judgeLater(nowMs);
    const own = { version: ownVersion, gates: ownGates };
    const verdict = compare(own, lease === undefined ? undefined : announcementOf(lease));
    const problems = isTooSoon ? [] : verdict.problems;
    this.#report(problems, lease);
    const problem = problems.length === 0 ? undefined : problems.map(({ note }) => note).join('. ');
    const state: PvBinderSkewState = { bindsVolumes: verdict.bindsVolumes, problem };
    if (this.#state?.bindsVolumes === state.bindsVolumes && this.#state.problem === problem) return;
    this.#state = state;
    onChange(state);
  }

  /** Time alone changes the answer: a Lease runs out, the beginning is over. */
  #judgeLater(nowMs: number): void {
    this.#timer?.cancel();
    const turns = [this.#graceUntilMs, this.#validUntilMs].filter((atMs) => atMs > nowMs);
    if (turns.length === 0) return;
    this.#timer = this.#options.clock.after(Math.min(...turns) - nowMs, () => this.#judge());
  }

  /** Each once, until it is gone and comes back. */
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

interface Verdict {
  readonly bindsVolumes: boolean;
  readonly problems: readonly Problem[];
}

/** `theirs` is undefined where Kubernetes' own PV controller binds. */
function compare(own: ComponentAnnouncement, theirs: ComponentAnnouncement | undefined): Verdict {
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
    ? `VolumeScheduling is off in ${binder} and on in the scheduler: claims are bound at once, and the scheduler leaves volumes alone; ` +
      'start the PV binder with --feature-gates VolumeScheduling=true'
    : `VolumeScheduling is on in ${binder} and off in the scheduler: claims that wait for their first consumer are not bound, and their pods ` +
      'wait; start the scheduler with --feature-gates VolumeScheduling=true';
  return { reason: 'GateSkew', note };
}

function suffix(version: string): string {
  return version === '' ? '' : ` (${version})`;
}

/** Patch releases go together. A version that is not told can't be compared. */
function versionSkew(own: string, theirs: string): readonly Problem[] {
  if (own === '' || theirs === '' || minorOf(own) === minorOf(theirs)) return [];
  const note = `the PV binder is ${theirs} and the scheduler is ${own}; bring both to the same version`;
  return [{ reason: 'VersionSkew', note }];
}

/** `1.4` of `v1.4.2-rc.1`; whatever else it is stands for itself. */
function minorOf(version: string): string {
  return /^v?(\d+\.\d+)\b/.exec(version)?.[1] ?? version;
}

function durationMsOf({ spec }: Lease): number {
  return (spec?.leaseDurationSeconds ?? 0) * 1000;
}

function leftByWallClock(lease: Lease, nowMs: number): number {
  const durationMs = durationMsOf(lease);
  const renewedMs = parseTimestamp(lease.spec?.renewTime) ?? nowMs;
  return Math.min(Math.max(renewedMs + durationMs - nowMs, 0), durationMs);
}

import type { ObjectReference, PersistentVolume } from '../../kube/api/core.ts';
import { getCondition } from '../../kube/conditions.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { type Drive, type DriveVolume, drivesDriver } from '../../kube/stowage/drive.ts';
import { type EventInput, type EventRecorder, referenceTo } from '../../reconcile/event-recorder.ts';
import { untilAborted } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { LedgerSource } from './ledger-source.ts';

/** States in which no pod can use the volumes of a drive, and the reasons of their Events. */
const reasons: Readonly<Record<string, string>> = { Lost: 'DriveLost', Error: 'DriveError' };

/** A process that starts reports changes of this time: no process may have seen them. API servers keep Events as long by default. */
const unseenMsMax = 60 * 60_000;

export interface DriveStateEventsOptions {
  readonly source: LedgerSource;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/**
 * Records one Event for each time that a drive becomes Lost or goes into Error: on the Drive, and on the claim or pod of each of its volumes.
 * The process may end at any time: the next one records recent changes again, and an Event that exists is not written twice, because the
 * change determines its name.
 */
export class DriveStateEvents {
  readonly #options: DriveStateEventsOptions;

  constructor(options: DriveStateEventsOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { source } = this.#options;
    if (!(await source.synced(signal))) return;
    const stop = source.onDriveChange((after, before) => this.#changed(after, before));
    await untilAborted(signal);
    stop();
  }

  #changed(drive: Drive, before: Drive | undefined): void {
    const reason = reasons[drive.status?.state ?? ''];
    if (reason === undefined || before?.status?.state === drive.status?.state) return;
    if (before === undefined && !this.#isRecent(drive)) return;
    for (const input of eventsOf(drive, reason, this.#options.source.volumes))
      this.#options.events.record(input);
  }

  #isRecent(drive: Drive): boolean {
    const changedMs = parseTimestamp(mountedOf(drive)?.lastTransitionTime ?? '');
    return changedMs !== undefined && this.#options.clock.nowMs() - changedMs < unseenMsMax;
  }
}

function eventsOf(drive: Drive, reason: string, all: Iterable<PersistentVolume>): readonly EventInput[] {
  const { name = '', uid = '' } = drive.metadata ?? {};
  const { state = '' } = drive.status ?? {};
  const { message, lastTransitionTime } = mountedOf(drive) ?? {};
  const problem = message === undefined ? state : `${state}: ${message}`;
  const regarding = referenceTo(drive, { apiVersion: 'stowage.dev/v1alpha1', kind: 'Drive' });
  const where = `drive ${name} of node ${drive.spec?.nodeName}`;
  const common = {
    type: 'Warning' as const,
    reason,
    action: 'Monitoring',
    ...(lastTransitionTime !== undefined && { occurrence: `${uid} ${state} ${lastTransitionTime}` }),
  };
  const users = usersOf(drive.spec?.volumes ?? [], all);
  return [
    { ...common, regarding, note: `${where} is ${problem}` },
    ...[...users].map(([volume, user]) => ({
      ...common,
      regarding: user,
      related: regarding,
      note: `volume ${volume} is on ${where}, which is ${problem}`,
    })),
  ];
}

/** The claim or the pod of each entry. The PersistentVolume has the uid of its claim, which an entry may lack. */
function usersOf(
  entries: readonly DriveVolume[],
  all: Iterable<PersistentVolume>,
): ReadonlyMap<string, ObjectReference> {
  const users = new Map<string, ObjectReference>();
  for (const { name, claimRef, podRef } of entries) {
    if (podRef !== undefined) users.set(name, { ...podRef, apiVersion: 'v1', kind: 'Pod' });
    if (claimRef !== undefined) users.set(name, claimReference(claimRef));
  }
  const names = new Set(entries.map(({ name }) => name));
  for (const { spec } of all) {
    const { driver, volumeHandle = '' } = spec?.csi ?? {};
    if (driver === drivesDriver && names.has(volumeHandle) && spec?.claimRef !== undefined)
      users.set(volumeHandle, claimReference(spec.claimRef));
  }
  return users;
}

function claimReference({ namespace, name, uid }: ObjectReference): ObjectReference {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
  };
}

function mountedOf({ status }: Drive) {
  return getCondition(status?.conditions, 'Mounted');
}

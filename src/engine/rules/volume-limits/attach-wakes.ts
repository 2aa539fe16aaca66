import type { ClaimRecord } from '../../records/claim-record.ts';
import type { NodeDriversRecord } from '../../records/driver-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import type { Interest } from '../rule.ts';

/** Whether a CSINode that came, changed or went could let the pod's volumes onto its node. */
export function driversMayHelp(
  interest: Interest,
  before: NodeDriversRecord | undefined,
  after: NodeDriversRecord | undefined,
): boolean {
  // Without a CSINode nothing is limited and nothing is served through CSI.
  if (before === undefined || after === undefined) return true;
  if (!haveSameItems(before.migratedPlugins, after.migratedPlugins)) return true;
  for (const driver of interest.drivers) {
    if (after.limits.has(driver) && !before.limits.has(driver)) return true;
    if (limitOf(after, driver) > limitOf(before, driver)) return true;
  }
  return false;
}

export function attachesVolumes(pod: PodRecord): boolean {
  return pod.claims.length + pod.migratedVolumes.length > 0;
}

/** A pod that was on a node and is there no more leaves its volumes' slots; so does one that a namesake has replaced. */
export function givesSlotsUp(before: PodRecord | undefined, after: PodRecord | undefined): boolean {
  const hadNode = before !== undefined && before.nodeName !== '' && !before.isFinished;
  if (!hadNode || !attachesVolumes(before)) return false;
  return (
    after === undefined || after.isFinished || after.nodeName !== before.nodeName || after.uid !== before.uid
  );
}

/** A volume that changed or went may be attached under another handle, or not at all. */
export function changesHandle(
  interest: Interest,
  before: VolumeRecord | undefined,
  after: VolumeRecord | undefined,
): boolean {
  if (before === undefined) return false;
  const handles = [before.csi, before.migrated].filter(
    (handle) => handle !== undefined && interest.drivers.has(handle.driver),
  );
  return handles.some((handle) => {
    const now = [after?.csi, after?.migrated].find((candidate) => candidate?.driver === handle!.driver);
    return now?.handle !== handle!.handle;
  });
}

/** Another pod's claim that got its volume counts for that volume's driver now, not for its class's. */
export function changesVolume(before: ClaimRecord | undefined, after: ClaimRecord | undefined): boolean {
  return before !== undefined && before.volumeName !== after?.volumeName;
}

function limitOf(record: NodeDriversRecord, driver: string): number {
  return record.limits.get(driver) ?? Number.POSITIVE_INFINITY;
}

function haveSameItems(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}

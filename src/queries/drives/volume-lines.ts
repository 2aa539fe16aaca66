import type { PersistentVolume } from '../../kube/api/core.ts';
import { type Drive, type DriveVolume, drivesDriver } from '../../kube/stowage/drive.ts';
import { claimKeys } from '../view/claim-keys.ts';
import { driveStates } from './drive-lines.ts';
import type { DriveObjects } from './drive-objects.ts';
import type { DriveVolumeLine, DriveVolumeState } from './drives-report.ts';

/** One line for each entry of a ledger, in the order of the drives. */
export function volumeLines(objects: DriveObjects): readonly DriveVolumeLine[] {
  const users = new VolumeUsers(objects);
  const states = driveStates(objects);
  return objects.drives.flatMap((drive) =>
    (drive.spec?.volumes ?? []).map((entry) => ({
      ...volumeLine(drive, entry, users),
      driveState: states.get(drive)!,
    })),
  );
}

/** Lines about one volume: by its name, its PersistentVolume, or its claim as `NAMESPACE/NAME`. */
export function linesAbout(wanted: string, lines: readonly DriveVolumeLine[]): readonly DriveVolumeLine[] {
  return lines.filter(
    ({ volume, persistentVolume, claim }) =>
      volume === wanted || persistentVolume === wanted || claim === wanted,
  );
}

function volumeLine(
  drive: Drive,
  entry: DriveVolume,
  users: VolumeUsers,
): Omit<DriveVolumeLine, 'driveState'> {
  const { claimRef, podRef } = entry;
  const volume = users.volumeOf(entry.name);
  const claim = claimRef && `${claimRef.namespace}/${claimRef.name}`;
  return {
    volume: entry.name,
    sizeBytes: entry.sizeBytes,
    node: drive.spec?.nodeName ?? '',
    drive: drive.metadata?.name ?? '',
    device: drive.status?.device?.path,
    isDriveCordoned: drive.spec?.unschedulable === true,
    state: users.stateOf(drive, entry),
    claim,
    persistentVolume: volume?.metadata?.name,
    pods: podRef ? [`${podRef.namespace}/${podRef.name}`] : users.podsOf(claim),
  };
}

/** Finds what uses a volume. */
class VolumeUsers {
  readonly #volumes: ReadonlyMap<string, PersistentVolume> | undefined;
  readonly #claimUids: ReadonlyMap<string, string> | undefined;
  readonly #pods = new Map<string, string[]>();

  constructor({ volumes, claims, pods = [] }: DriveObjects) {
    this.#volumes =
      volumes &&
      new Map(volumes.flatMap((volume) => (isOnDrive(volume) ? [[handleOf(volume), volume]] : [])));
    this.#claimUids =
      claims &&
      new Map(
        claims.map(({ metadata }) => [`${metadata?.namespace}/${metadata?.name}`, metadata?.uid ?? '']),
      );
    for (const pod of pods)
      for (const key of claimKeys(pod)) {
        const name = `${pod.metadata?.namespace}/${pod.metadata?.name}`;
        this.#pods.set(key, [...(this.#pods.get(key) ?? []), name]);
      }
  }

  volumeOf(name: string): PersistentVolume | undefined {
    return this.#volumes?.get(name);
  }

  podsOf(claim: string | undefined): readonly string[] {
    return claim === undefined ? [] : (this.#pods.get(claim) ?? []);
  }

  /** An object that can't be read does not count as missing. */
  stateOf({ status }: Drive, { name, state, claimRef, podRef }: DriveVolume): DriveVolumeState {
    if (state === 'Releasing') return 'Releasing';
    if (status?.state === 'Lost') return 'Lost';
    if (podRef || this.#volumes === undefined || this.#volumes.has(name)) return 'Active';
    const uid = claimRef && this.#claimUids?.get(`${claimRef.namespace}/${claimRef.name}`);
    const hasClaim = uid !== undefined && (claimRef?.uid === undefined || claimRef.uid === uid);
    return hasClaim || this.#claimUids === undefined ? 'Pending' : 'Leaked';
  }
}

function isOnDrive({ spec }: PersistentVolume): boolean {
  return spec?.csi?.driver === drivesDriver;
}

function handleOf({ spec }: PersistentVolume): string {
  return spec?.csi?.volumeHandle ?? '';
}

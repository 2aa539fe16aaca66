import { CsiStatusError } from '../../csi/csi-errors.ts';
import { chooseDrive } from '../../engine/drives/choose-drive.ts';
import { driveRefusalText } from '../../engine/drives/drive-refusal.ts';
import { driveNodeKey } from '../../kube/drive.ts';
import type { Random } from '../../runtime/random.ts';
import { claimPatch, entryPatch } from '../controller/ledger-patches.ts';
import type { NodeDrives, NodeVolume } from './node-drives.ts';
import type { InlineVolumeRequest } from './node-requests.ts';

/** How often a drive is chosen again after another client changed the chosen one; then the kubelet repeats the call. */
const attemptsMax = 8;

/**
 * Inline volumes: the pod asks for them, no controller has seen them, so the node chooses one of its drives by the same rules, and writes the
 * entry. That one versioned write is the claim: a repeated call, also after a crash, finds it. The entry is released when the pod ends.
 */
export class InlineVolumes {
  readonly #drives: NodeDrives;
  readonly #nodeName: string;
  readonly #random: Random;

  constructor(drives: NodeDrives, nodeName: string, random: Random) {
    this.#drives = drives;
    this.#nodeName = nodeName;
    this.#random = random;
  }

  /** The volume's drive; calls for one volume must not run at the same time. */
  async claim(volume: string, wanted: InlineVolumeRequest): Promise<NodeVolume> {
    let isFresh = false;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const found = this.#drives.find(volume);
      if (found !== undefined) return checked(found, wanted);
      // An entry whose answer was lost may not have been delivered yet.
      if (!isFresh) await this.#drives.refresh(undefined);
      else await this.#write(volume, wanted);
      isFresh = true;
    }
    throw new CsiStatusError(
      'Aborted',
      `the drives of this node keep changing; repeat the call for ${volume}`,
    );
  }

  /** The bytes are free when the data is gone. Does nothing for a volume that is not inline, or released already. */
  async release(volume: string): Promise<void> {
    const placed = this.#drives.find(volume);
    if (placed?.entry.podRef === undefined) return;
    await this.#drives.write(placed.record.name, ({ record }) => {
      const entry = record.volumes.find(({ name }) => name === volume);
      if (entry === undefined || entry.state === 'Releasing') return undefined;
      return entryPatch(record, volume, { state: 'Releasing' });
    });
  }

  async #write(volume: string, { sizeBytes, driveClass, pod }: InlineVolumeRequest): Promise<void> {
    const term = { [driveNodeKey]: this.#nodeName };
    const { tier, labels } = driveClass;
    const ask = { bytes: sizeBytes, tier, labels, preferred: [], requisite: [term] };
    const { index } = this.#drives;
    const choice = chooseDrive(index, ask, this.#random);
    if (choice.kind === 'refused') throw new CsiStatusError('ResourceExhausted', driveRefusalText(choice));
    const { name } = choice.drive;
    const { version } = choice.drive.record;
    index.hold(name, volume, { bytes: sizeBytes });
    try {
      // Another version of the drive may be cordoned or full: then it is chosen again.
      await this.#drives.write(name, ({ record }) =>
        record.version === version ? claimPatch(record, { name: volume, sizeBytes, podRef: pod }) : undefined,
      );
    } finally {
      index.release(name, volume);
    }
  }
}

function checked(found: NodeVolume, { pod }: InlineVolumeRequest): NodeVolume {
  const { entry, record } = found;
  const { podRef } = entry;
  if (podRef?.namespace !== pod.namespace || podRef.name !== pod.name || podRef.uid !== pod.uid)
    throw new CsiStatusError(
      'AlreadyExists',
      `volume ${entry.name} on drive ${record.name} is not of this pod`,
    );
  if (entry.state === 'Releasing')
    throw new CsiStatusError('Aborted', `volume ${entry.name} is being deleted; repeat the call`);
  return found;
}

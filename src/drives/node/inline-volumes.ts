import type { Cluster } from '../../cluster/cluster.ts';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import { chooseOnNode } from '../../engine/drives/choose-with-others.ts';
import { driveRefusalText } from '../../engine/drives/drive-refusal.ts';
import { KeyedQueue } from '../../runtime/keyed-queue.ts';
import type { Log } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import { claimPatch, entryPatch } from '../controller/ledger-patches.ts';
import type { NodeDrives, NodeVolume } from './node-drives.ts';
import type { InlineVolumeRequest } from './node-requests.ts';
import { otherVolumesOf, type PodVolume } from './pod-volumes.ts';

/** How often a drive is chosen again after another client changed the chosen one; then the kubelet repeats the call. */
const attemptsMax = 8;

export interface InlineVolumesOptions {
  readonly cluster: Cluster;
  readonly drives: NodeDrives;
  readonly nodeName: string;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Inline volumes: the pod asks for them, no controller has seen them, so the node chooses one of its drives by the same rules, and writes the
 * entry. That one versioned write is the claim: a repeated call, also after a crash, finds it. The entry is released when the pod ends.
 *
 * The kubelet publishes the volumes of a pod one by one, or in parallel. Each is placed so that the others still fit; the plan is not stored,
 * because the next choice makes it again from the pod and the ledgers.
 */
export class InlineVolumes {
  readonly #options: InlineVolumesOptions;
  readonly #drives: NodeDrives;
  readonly #pods = new KeyedQueue();

  constructor(options: InlineVolumesOptions) {
    this.#options = options;
    this.#drives = options.drives;
  }

  /** The volume's drive; calls for one volume must not run at the same time. Those of one pod wait for each other: each knows the entries before it. */
  claim(volume: string, wanted: InlineVolumeRequest): Promise<NodeVolume> {
    const { namespace, name } = wanted.pod;
    return this.#pods.run(`${namespace}/${name}`, () => this.#claim(volume, wanted));
  }

  async #claim(volume: string, wanted: InlineVolumeRequest): Promise<NodeVolume> {
    let others: readonly PodVolume[] | undefined;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const found = this.#drives.find(volume);
      if (found !== undefined) return checked(found, wanted);
      // An entry whose answer was lost may not have been delivered yet.
      if (others === undefined) await this.#drives.refresh(undefined);
      else await this.#write(volume, wanted, others);
      others ??= await this.#othersOf(volume, wanted);
    }
    throw new CsiStatusError(
      'Aborted',
      `the drives of this node keep changing; repeat the call for ${volume}`,
    );
  }

  /** Frees the bytes once the data is deleted. Does nothing for a volume that is not inline, or released already. */
  async release(volume: string): Promise<void> {
    const placed = this.#drives.find(volume);
    if (placed?.entry.podRef === undefined) return;
    await this.#drives.write(placed.record.name, ({ record }) => {
      const entry = record.volumes.find(({ name }) => name === volume);
      if (entry === undefined || entry.state === 'Releasing') return undefined;
      return entryPatch(record, volume, { state: 'Releasing' });
    });
  }

  /** A pod that cannot be read does not keep its volume waiting: the drive is chosen for the volume alone. */
  async #othersOf(volume: string, { pod }: InlineVolumeRequest): Promise<readonly PodVolume[]> {
    try {
      return await otherVolumesOf(this.#options.cluster, volume, pod);
    } catch (error) {
      this.#options.log.warn(`pod ${pod.namespace}/${pod.name} cannot be read`, { error });
      return [];
    }
  }

  async #write(
    volume: string,
    { sizeBytes, driveClass, pod }: InlineVolumeRequest,
    others: readonly PodVolume[],
  ): Promise<void> {
    const { nodeName, random } = this.#options;
    const { index } = this.#drives;
    const { tier, labels } = driveClass;
    const unplaced = others.filter(({ handle }) => index.drivesOf(handle).length === 0);
    const choice = chooseOnNode(index, nodeName, { bytes: sizeBytes, tier, labels }, unplaced, random);
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

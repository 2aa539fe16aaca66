import type { BackingImageFileState } from '../../../../kube/stowage/backing-image.ts';
import type { DiskVerdict } from '../../../../kube/stowage/disk-schedule.ts';
import type { DiskCandidate } from '../../choose-disk.ts';
import { decideDisk } from '../../decide-disk.ts';
import type { DiskState } from '../../disk-state.ts';
import type { CopyView, ImageStep, ImageView } from '../image-view.ts';
import { mayMakeCopy } from '../may-make-copy.ts';
import { planImage } from '../plan-image.ts';

export interface ModelDisk {
  readonly uuid: string;
  readonly nodeName: string;
  limit: number;
  isEvicted: boolean;
  /** Requests and verdicts: of the image under `i`, of others under other names. */
  asked: Record<string, number>;
  verdicts: Readonly<Record<string, DiskVerdict>>;
}

/** One image, its disks, the decider and the agents, as plain data: steps of each can be run in any order. */
export class ImageModel {
  readonly disks = new Map<string, ModelDisk>();
  readonly realBytes: number;
  minNumberOfCopies = 1;
  expectedBytes: number | undefined;
  sourceBytes: number | undefined;
  knownBytes: number | undefined;
  readonly wanted = new Set<string>();
  readonly files = new Map<string, BackingImageFileState>();
  readonly neededOn = new Map<string, string>();
  readonly rejectedBy = new Set<string>();
  readonly failedOn = new Set<string>();
  idleMs = 0;

  constructor(realBytes: number, expectedBytes: number | undefined) {
    this.realBytes = realBytes;
    this.expectedBytes = expectedBytes;
  }

  get bytes(): number | undefined {
    return this.knownBytes ?? this.expectedBytes ?? this.sourceBytes;
  }

  addDisk(uuid: string, nodeName: string, limit: number): void {
    this.disks.set(uuid, { uuid, nodeName, limit, isEvicted: false, asked: {}, verdicts: {} });
  }

  // ── The controller ──

  view(): ImageView {
    const named = [...this.disks.values()].filter(
      ({ uuid, asked }) => this.wanted.has(uuid) || this.files.has(uuid) || asked.i !== undefined,
    );
    return {
      name: 'i',
      minNumberOfCopies: this.minNumberOfCopies,
      bytes: this.bytes,
      hasReadableLength: true,
      nodeSelector: [],
      diskSelector: [],
      copies: named.map((disk) => this.#copy(disk)),
      neededOn: this.neededOn,
      rejectedBy: this.rejectedBy,
      failedOn: this.failedOn,
      isSourceFailing: false,
      isProtected: true,
      deletion: 'none',
    };
  }

  #copy({ uuid, nodeName, isEvicted, asked, verdicts }: ModelDisk): CopyView {
    return {
      place: { uuid, nodeName, zone: '' },
      diskName: uuid,
      isWanted: this.wanted.has(uuid),
      isEvicted,
      isLost: false,
      isDiskReady: true,
      entry: { askedBytes: asked.i, verdict: verdicts.i },
      state: this.files.get(uuid),
      isOverdue: false,
      idleMs: this.neededOn.has(uuid) ? 0 : this.idleMs,
    };
  }

  candidates(): readonly DiskCandidate[] {
    return [...this.disks.values()].map((disk) => {
      const { uuid, nodeName, asked, verdicts } = disk;
      const names = new Set([...Object.keys(asked), ...Object.keys(verdicts)]);
      let [demandBytes, grantedBytes] = [0, 0];
      for (const name of names) {
        const granted = verdicts[name]?.scheduledSize ?? 0;
        demandBytes += Math.max(asked[name] ?? 0, granted);
        grantedBytes += granted;
      }
      const state = stateOf(disk);
      return {
        uuid,
        name: uuid,
        nodeName,
        zone: '',
        nodeTags: [],
        diskTags: [],
        state,
        demandBytes,
        grantedBytes,
      };
    });
  }

  /** The steps that the controller would take now. */
  steps(): readonly ImageStep[] {
    return planImage(this.view(), this.candidates()).steps;
  }

  applyPlan(step: ImageStep): void {
    if (step.kind === 'request') this.#disk(step.diskUUID).asked.i = step.bytes;
    else if (step.kind === 'withdraw' || step.kind === 'release') delete this.#disk(step.diskUUID).asked.i;
    else if (step.kind === 'place') {
      for (const uuid of step.add) this.wanted.add(uuid);
      for (const uuid of step.remove) this.wanted.delete(uuid);
      for (const uuid of step.rejectedBy) this.rejectedBy.add(uuid);
      for (const uuid of step.failedOn) this.failedOn.add(uuid);
    }
  }

  // ── The others ──

  decide(uuid: string): void {
    const disk = this.#disk(uuid);
    disk.verdicts = decideDisk({
      spec: { backingImages: disk.asked },
      status: { backingImages: disk.verdicts },
      disk: stateOf(disk),
      hasData: (_, name) => name === 'i' && this.files.get(uuid) === 'ready',
      createdAt: () => '',
    }).backingImages;
  }

  /** The agent of the disk reads the length of the source, or makes, completes or removes the file. */
  act(uuid: string): void {
    const { asked, verdicts } = this.#disk(uuid);
    const state = this.files.get(uuid);
    if (!this.wanted.has(uuid)) this.files.delete(uuid);
    else if (this.bytes === undefined) this.sourceBytes = this.realBytes;
    else if (state === 'in-progress') {
      this.files.set(uuid, 'ready');
      this.knownBytes = this.realBytes;
    } else if (state === undefined && this.#mayMake(uuid, asked, verdicts))
      this.files.set(uuid, 'in-progress');
  }

  fail(uuid: string): void {
    if (this.files.has(uuid)) this.files.set(uuid, 'failed');
  }

  #mayMake(uuid: string, asked: ModelDisk['asked'], verdicts: ModelDisk['verdicts']): boolean {
    const diskFileSpecMap = Object.fromEntries([...this.wanted].map((one) => [one, {}]));
    const image = {
      metadata: { name: 'i' },
      spec: {
        diskFileSpecMap,
        ...(this.expectedBytes !== undefined && { expectedSize: this.expectedBytes }),
      },
      status: {
        ...(this.knownBytes !== undefined && { size: this.knownBytes }),
        ...(this.sourceBytes !== undefined && { sourceSize: this.sourceBytes }),
      },
    };
    const schedule = { spec: { backingImages: asked }, status: { backingImages: verdicts } };
    return mayMakeCopy(image, uuid, schedule);
  }

  #disk(uuid: string): ModelDisk {
    const disk = this.disks.get(uuid);
    if (disk === undefined) throw new Error(`no disk ${uuid}`);
    return disk;
  }
}

function stateOf({ limit, isEvicted }: ModelDisk): DiskState {
  if (!isEvicted) return { kind: 'ready', limitBytes: limit };
  const closed = { reason: 'SchedulingDisabled', message: 'evicted' } as const;
  return { kind: 'ready', limitBytes: limit, closed };
}

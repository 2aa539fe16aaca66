import { decideDisk } from '../../../engine/disks/decide-disk.ts';
import type { DiskState } from '../../../engine/disks/disk-state.ts';
import { heldBytes } from '../../../engine/disks/held-bytes.ts';
import { planVolume } from '../../../engine/disks/volumes/plan-volume.ts';
import type { VolumeExpansion, VolumeView } from '../../../engine/disks/volumes/volume-model.ts';

/*
 * A model of an expansion: one volume with one replica on one disk, instances of the volume controller, and passes over the disk. They use the real plans
 * and decisions. Every interleaving is walked through of: edits of the wanted size, reads, caches that follow late and separately, writes, and writes that
 * arrive at any later time although their sender has abandoned them.
 */

interface StoredVolume {
  readonly version: number;
  readonly wantedBytes: number;
  readonly size: number;
  readonly expansion: VolumeExpansion | undefined;
}

interface StoredSchedule {
  readonly version: number;
  readonly asked: number;
  readonly granted: number;
  readonly observed: number;
}

type Write =
  | {
      readonly kind: 'status';
      readonly version: number;
      readonly size: number;
      readonly expansion: VolumeExpansion | undefined;
    }
  /** The check before a commit, not a write. */
  | { readonly kind: 'confirm'; readonly expansion: VolumeExpansion }
  | { readonly kind: 'request'; readonly bytes: number }
  | {
      readonly kind: 'lower';
      readonly bytes: number;
      readonly version: number;
      readonly volumeVersion: number;
    }
  | { readonly kind: 'grow'; readonly bytes: number };

interface Instance {
  readonly volume: StoredVolume;
  readonly schedule: StoredSchedule;
  readonly replicaBytes: number;
  readonly todo: readonly Write[];
  readonly late: Write | undefined;
}

/** A pass over the disk: the schedule was read, then what the volume holds. */
interface Pass {
  readonly schedule: StoredSchedule | undefined;
  readonly held: number | undefined;
}

interface Moment {
  readonly volume: StoredVolume;
  readonly schedule: StoredSchedule;
  readonly replicaBytes: number;
  readonly edits: readonly number[];
  readonly instances: readonly Instance[];
  readonly passes: readonly (Pass | undefined)[];
  /** Writes that may still arrive late. */
  readonly lateLeft: number;
}

/** Ways to get it wrong, each of which the walk has to find. */
interface ExpansionMistakes {
  /** A pass releases all bytes that are not requested. */
  readonly ignoresHolds?: true;
  /** A pass reads the volume before the schedule. */
  readonly readsHoldsFirst?: true;
  /** A commit is confirmed by a cache. */
  readonly confirmsFromCache?: true;
  /** The volume is written without its version. */
  readonly ignoresVolumeVersion?: true;
}

/** Versions of the schedule and the volume that are walked through; enough for three attempts. */
const versionsMax = 9;
const disk: DiskState = { kind: 'ready', limitBytes: 100 };
const antiAffinity = { node: 'soft', zone: 'soft', disk: 'soft' } as const;

function planOf({ volume, schedule, replicaBytes }: Instance): readonly Write[] {
  const verdict = {
    state: 'scheduled',
    scheduledSize: schedule.granted,
    observedSize: schedule.observed,
  } as const;
  const view: VolumeView = {
    name: 'v',
    wantedBytes: volume.wantedBytes,
    currentBytes: volume.size,
    numberOfReplicas: 1,
    nodeSelector: [],
    diskSelector: [],
    antiAffinity,
    expansion: volume.expansion,
    hadData: false,
    isLossAccepted: false,
    acceptCommand: '',
    refusedExpansion: undefined,
    replicas: [
      {
        name: 'r',
        sizeBytes: replicaBytes,
        isDeleting: false,
        isRunningDesired: true,
        hasData: true,
        health: 'incomplete',
        brokenMs: undefined,
        isMarkedForRemoval: false,
        nodeName: 'n',
        place: { uuid: 'd', nodeName: 'n', zone: '', isEvicted: false },
        entry: { askedBytes: schedule.asked, verdict },
        isOverdue: false,
        rejectedBy: new Set(),
      },
    ],
  };
  const { steps, expansion, currentBytes = 0 } = planVolume(view, []);
  const isRecorded = JSON.stringify(expansion) === JSON.stringify(volume.expansion);
  const status = { kind: 'status', version: volume.version, size: currentBytes, expansion } as const;
  const writes = steps.flatMap((step): readonly Write[] => {
    if (step.kind === 'grow') return [{ kind: 'grow', bytes: step.bytes }];
    if (step.kind !== 'request') return [];
    const { bytes } = step;
    const volumeVersion = volume.version + Number(!isRecorded);
    if (bytes < schedule.asked) return [{ kind: 'lower', bytes, version: schedule.version, volumeVersion }];
    return [{ kind: 'request', bytes }];
  });
  const confirm = expansion?.state === 'Committed' ? [{ kind: 'confirm', expansion } as const] : [];
  if (!isRecorded) return [...confirm, status, ...writes];
  return currentBytes === volume.size ? writes : [...writes, status];
}

/** The moment after a write has arrived; undefined if it was refused. */
function arrive(moment: Moment, write: Write, mistakes: ExpansionMistakes): Moment | undefined {
  const { volume, schedule } = moment;
  switch (write.kind) {
    case 'confirm':
      return moment;
    case 'status': {
      if (write.version !== volume.version && mistakes.ignoresVolumeVersion !== true) return undefined;
      const { size, expansion } = write;
      return { ...moment, volume: { ...volume, size, expansion, version: volume.version + 1 } };
    }
    case 'lower':
      if (write.version !== schedule.version) return undefined;
      return { ...moment, schedule: { ...schedule, asked: write.bytes, version: schedule.version + 1 } };
    case 'request':
      if (schedule.asked === write.bytes) return moment;
      return { ...moment, schedule: { ...schedule, asked: write.bytes, version: schedule.version + 1 } };
    case 'grow':
      return { ...moment, replicaBytes: Math.max(moment.replicaBytes, write.bytes) };
  }
}

/** Whether what is read before the write allows to send it. */
function maySend(
  { volume, schedule }: Moment,
  write: Write,
  cached: StoredSchedule,
  mistakes: ExpansionMistakes,
): boolean {
  if (write.kind === 'lower') return write.volumeVersion === volume.version;
  if (write.kind !== 'confirm') return true;
  const { asked, granted } = mistakes.confirmsFromCache === true ? cached : schedule;
  return asked === write.expansion.bytes && granted >= write.expansion.bytes;
}

function decided(schedule: StoredSchedule, held: number): StoredSchedule {
  const { asked, granted, observed } = schedule;
  const verdict = { state: 'scheduled', scheduledSize: granted, observedSize: observed } as const;
  const { replicas } = decideDisk({
    spec: { replicas: { r: asked } },
    status: { replicas: { r: verdict } },
    disk,
    hasData: () => true,
    createdAt: () => '',
    heldBytes: () => held,
  });
  const { scheduledSize = 0, observedSize = 0 } = replicas.r ?? {};
  return { ...schedule, granted: scheduledSize, observed: observedSize };
}

function* nextMoments(moment: Moment, mistakes: ExpansionMistakes): Iterable<Moment> {
  const { volume, schedule, edits, instances, passes } = moment;
  const [edit, ...laterEdits] = edits;
  if (edit !== undefined && edit >= volume.size)
    yield {
      ...moment,
      edits: laterEdits,
      volume: { ...volume, wantedBytes: edit, version: volume.version + 1 },
    };
  for (const [at, instance] of instances.entries()) {
    const become = (after: Moment, change: Partial<Instance>): Moment => ({
      ...after,
      instances: instances.with(at, { ...instance, ...change }),
    });
    const { todo, late } = instance;
    if (late !== undefined) yield become(arrive(moment, late, mistakes) ?? moment, { late: undefined });
    const [write, ...rest] = todo;
    if (write === undefined) {
      if (instance.volume.version !== volume.version) yield become(moment, { volume });
      if (instance.schedule.version !== schedule.version) yield become(moment, { schedule });
      if (instance.replicaBytes !== moment.replicaBytes)
        yield become(moment, { replicaBytes: moment.replicaBytes });
      const planned = planOf(instance);
      if (planned.length > 0) yield become(moment, { todo: planned });
      continue;
    }
    if (!maySend(moment, write, instance.schedule, mistakes)) {
      yield become(moment, { todo: [] });
      continue;
    }
    const after = arrive(moment, write, mistakes);
    yield become(after ?? moment, { todo: after === undefined ? [] : rest });
    if (late === undefined && moment.lateLeft > 0 && write.kind !== 'confirm')
      yield become({ ...moment, lateLeft: moment.lateLeft - 1 }, { todo: [], late: write });
  }
  for (const [at, pass] of passes.entries()) {
    const become = (change: Pass | undefined, after = moment): Moment => ({
      ...after,
      passes: passes.with(at, change),
    });
    const held = mistakes.ignoresHolds === true ? 0 : heldBy(volume);
    const isUseful = schedule.observed !== schedule.asked || schedule.granted > schedule.asked;
    if (pass === undefined) {
      const first =
        mistakes.readsHoldsFirst === true ? { schedule: undefined, held } : { schedule, held: undefined };
      if (isUseful || first.schedule === undefined) yield become(first);
    } else if (pass.schedule === undefined) yield become({ ...pass, schedule });
    else if (pass.held === undefined) yield become({ ...pass, held });
    else {
      const isCurrent = pass.schedule.version === schedule.version;
      const after = decided(pass.schedule, pass.held);
      const changes = after.granted !== schedule.granted || after.observed !== schedule.observed;
      const version = schedule.version + 1;
      yield become(undefined, isCurrent && changes ? { ...moment, schedule: { ...after, version } } : moment);
    }
  }
}

function heldBy({ size, expansion }: StoredVolume): number {
  if (expansion === undefined) return heldBytes({ status: { size } });
  return heldBytes({ status: { size, expansion: { size: expansion.bytes, state: expansion.state } } });
}

/** Instances are alike, and so are passes. */
function keyOf(moment: Moment): string {
  const sorted = (list: readonly unknown[]) => list.map((each) => JSON.stringify(each) ?? '').sort();
  const { instances, passes, ...rest } = moment;
  return JSON.stringify([rest, sorted(instances), sorted(passes)]);
}

export interface ExpansionWalk {
  readonly moments: number;
  /** States of the expansion with sizes of the replica. */
  readonly outcomes: ReadonlySet<string>;
  /** The first moment in which the replica has more bytes than were granted. */
  readonly violation: Moment | undefined;
}

interface WalkOptions {
  readonly instances: number;
  readonly passes: number;
  readonly lateMax: number;
  readonly edits: readonly number[];
}

export function walkExpansion(options: WalkOptions, mistakes: ExpansionMistakes = {}): ExpansionWalk {
  const volume = { version: 1, wantedBytes: 20, size: 10, expansion: undefined };
  const schedule = { version: 1, asked: 10, granted: 10, observed: 10 };
  const instance = { volume, schedule, replicaBytes: 10, todo: [], late: undefined };
  const first: Moment = {
    volume,
    schedule,
    replicaBytes: 10,
    edits: options.edits,
    instances: Array.from({ length: options.instances }, () => instance),
    passes: Array.from({ length: options.passes }, () => undefined),
    lateLeft: options.lateMax,
  };
  const seen = new Set([keyOf(first)]);
  const outcomes = new Set<string>();
  const open = [first];
  for (let moment = open.pop(); moment !== undefined; moment = open.pop()) {
    if (moment.replicaBytes > moment.schedule.granted)
      return { moments: seen.size, outcomes, violation: moment };
    outcomes.add(`${moment.volume.expansion?.state} ${moment.replicaBytes}`);
    for (const next of nextMoments(moment, mistakes)) {
      if (next.volume.version > versionsMax || next.schedule.version > versionsMax) continue;
      const key = keyOf(next);
      if (seen.has(key)) continue;
      seen.add(key);
      open.push(next);
    }
  }
  return { moments: seen.size, outcomes, violation: undefined };
}

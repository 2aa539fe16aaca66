import type { DiskVerdict } from '../../../../kube/stowage/disk-schedule.ts';
import type { DiskCandidate } from '../../choose-disk.ts';
import type { DiskState } from '../../disk-state.ts';
import { planVolume } from '../plan-volume.ts';
import type { ReplicaView, VolumeStep, VolumeView } from '../volume-model.ts';

export const antiAffinity = { node: 'hard', zone: 'soft', disk: 'soft' } as const;

export function volume(facts: Partial<VolumeView> = {}): VolumeView {
  return {
    name: 'v1',
    wantedBytes: 10,
    currentBytes: undefined,
    numberOfReplicas: 1,
    nodeSelector: [],
    diskSelector: [],
    antiAffinity,
    replicas: [],
    hadData: facts.replicas?.some(({ hasData }) => hasData) ?? false,
    isLossAccepted: false,
    acceptCommand: 'kubectl annotate v1',
    expansion: undefined,
    refusedExpansion: undefined,
    ...facts,
  };
}

/** `d1` is on node `n1`, and so on. */
export function disk(uuid: string, limitBytes = 100, facts: Partial<DiskCandidate> = {}): DiskCandidate {
  const nodeName = `n${uuid.slice(1)}`;
  const state: DiskState = { kind: 'ready', limitBytes };
  const empty = { zone: '', nodeTags: [], diskTags: [], demandBytes: 0, grantedBytes: 0 };
  return { uuid, name: uuid, nodeName, state, ...empty, ...facts };
}

export function replica(name: string, facts: Partial<ReplicaView> = {}): ReplicaView {
  return {
    name,
    sizeBytes: 10,
    isDeleting: false,
    isRunningDesired: false,
    hasData: false,
    health: facts.hasData === true ? 'healthy' : 'incomplete',
    brokenMs: undefined,
    isMarkedForRemoval: false,
    nodeName: facts.place?.nodeName,
    place: undefined,
    entry: undefined,
    isOverdue: false,
    rejectedBy: new Set(),
    ...facts,
  };
}

export function on(uuid: string, isEvicted = false): NonNullable<ReplicaView['place']> {
  return { uuid, nodeName: `n${uuid.slice(1)}`, zone: '', isEvicted };
}

export const granted = (size: number): DiskVerdict => ({
  state: 'scheduled',
  scheduledSize: size,
  observedSize: size,
});
export const refused = (asked: number, had = 0): DiskVerdict => ({
  state: 'rejected',
  scheduledSize: had,
  observedSize: asked,
  reason: 'InsufficientStorage',
});

/** A replica that has its bytes and runs. */
export function settled(
  name: string,
  uuid: string,
  bytes = 10,
  facts: Partial<ReplicaView> = {},
): ReplicaView {
  const entry = { askedBytes: bytes, verdict: granted(bytes) };
  return replica(name, { sizeBytes: bytes, place: on(uuid), entry, isRunningDesired: true, ...facts });
}

/** Steps as `create v1-r0`, `assign v1-r0 d1`, `request v1-r0 d1 10`. */
function text(steps: readonly VolumeStep[]): readonly string[] {
  return steps.map((step) => {
    const where = step.kind === 'assign' ? step.disk.uuid : 'diskUUID' in step ? step.diskUUID : undefined;
    const size = 'bytes' in step ? step.bytes : undefined;
    return [step.kind, step.replica, where, size].filter((part) => part !== undefined).join(' ');
  });
}

export function plan(view: VolumeView, ...disks: readonly DiskCandidate[]) {
  const { steps, ...rest } = planVolume(view, disks);
  return { ...rest, steps: text(steps) };
}

import { matchClaim, mismatches, mismatchOf } from '../../../engine/claim-match.ts';
import type { ClusterIndex } from '../../../engine/cluster-index/cluster-index.ts';
import type { ClaimRecord } from '../../../engine/records/claim-record.ts';
import type { ClassRecord } from '../../../engine/records/class-record.ts';
import type { VolumeRecord } from '../../../engine/records/volume-record.ts';
import { hasAnnotation } from '../../../kube/annotations.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { claimHasClass } from '../../../kube/volumes.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { BinderEvent } from './binder-events.ts';
import { provisioningOf } from './provisioning.ts';

/** The next step for a claim. */
export type ClaimDecision =
  | { readonly kind: 'bind'; readonly volumeName: string }
  /** It names no class, and there is a default class. */
  | { readonly kind: 'take-class'; readonly className: string }
  | { readonly kind: 'hand-over'; readonly provisioner: string; readonly event: BinderEvent }
  | {
      readonly kind: 'wait';
      readonly event: BinderEvent | undefined;
      /** Upstream does not change the phase where it would have provisioned. */
      readonly keepsPhase: boolean;
      /** A volume that becomes free may be for it. */
      readonly takesAny: boolean;
    }
  | { readonly kind: 'lose'; readonly event: BinderEvent }
  /** A client removed the annotation that the binding is complete, and the volume belongs to another claim. No write of ours helps. */
  | { readonly kind: 'contradiction'; readonly event: BinderEvent; readonly problem: string };

export interface ClaimView {
  readonly index: ClusterIndex;
  /** The default class for claims without one. */
  readonly defaultClass: () => string | undefined;
  /** False: claims of WaitForFirstConsumer classes are bound like all others. */
  readonly delaysBinding: boolean;
}

export function decideClaim(
  view: ClaimView,
  claim: PersistentVolumeClaim,
  record: ClaimRecord,
): ClaimDecision {
  if (hasAnnotation(claim, annotations.bindCompleted)) return decideBound(view.index, record);
  return record.volumeName === '' ? decideFree(view, claim, record) : decideNamed(view.index, claim, record);
}

function decideFree(view: ClaimView, claim: PersistentVolumeClaim, record: ClaimRecord): ClaimDecision {
  const { index } = view;
  const storageClass = index.classes.get(record.className);
  const isDelayed = view.delaysBinding && storageClass?.isDelayed === true;
  const volume = matchClaim(index, record, isDelayed);
  if (volume !== undefined) return { kind: 'bind', volumeName: volume.key };
  const className = claimHasClass(claim) ? undefined : view.defaultClass();
  // Volumes without a class were tried first; now the claim gets the default class.
  if (className !== undefined) return { kind: 'take-class', className };
  if (isDelayed && !record.hasSelectedNode) {
    const event = invalidClass(record, storageClass) ?? waitingForPod(index, record);
    return { kind: 'wait', event, keepsPhase: false, takesAny: false };
  }
  if (record.className === '') {
    return { kind: 'wait', event: nothingAvailable, keepsPhase: false, takesAny: true };
  }
  const answer = provisioningOf(storageClass, record.className);
  if (!answer.ok) return { kind: 'wait', event: answer.event, keepsPhase: true, takesAny: !isDelayed };
  return { kind: 'hand-over', provisioner: answer.provisioner, event: answer.event };
}

/** A claim that names its volume: set by a user, or left by an interrupted binding. */
function decideNamed(index: ClusterIndex, claim: PersistentVolumeClaim, record: ClaimRecord): ClaimDecision {
  const volume = index.volumes.get(record.volumeName);
  const wait = { kind: 'wait', keepsPhase: false, takesAny: false } as const;
  if (volume === undefined) return { ...wait, event: undefined };
  if (volume.claim === undefined) {
    const mismatch = mismatchOf(volume, record);
    if (mismatch === undefined) return { kind: 'bind', volumeName: volume.key };
    const why = mismatches[mismatch] + (mismatch === 'Deleting' ? ` "${volume.key}"` : '');
    const note = `Cannot bind to requested volume "${volume.key}": ${why}`;
    return { ...wait, event: { type: 'Warning', reason: 'VolumeMismatch', note } };
  }
  if (isFor(volume, record)) return { kind: 'bind', volumeName: volume.key };
  const note = `volume "${volume.key}" already bound to a different claim.`;
  const event: BinderEvent = { type: 'Warning', reason: 'FailedBinding', note };
  if (!hasAnnotation(claim, annotations.boundByController)) return { ...wait, event };
  const problem = `invalid binding of claim "${record.key}" to volume "${volume.key}": volume already claimed by "${volume.claim.claimKey}"`;
  return { kind: 'contradiction', event, problem };
}

function decideBound(index: ClusterIndex, record: ClaimRecord): ClaimDecision {
  if (record.volumeName === '') return { kind: 'lose', event: lostReference };
  const volume = index.volumes.get(record.volumeName);
  if (volume === undefined) return { kind: 'lose', event: lostVolume };
  const isOurs = volume.claim === undefined || volume.claim.uid === record.uid;
  return isOurs ? { kind: 'bind', volumeName: volume.key } : { kind: 'lose', event: claimMisbound };
}

function isFor({ claim }: VolumeRecord, record: ClaimRecord): boolean {
  return claim?.claimKey === record.key && (claim.uid === '' || claim.uid === record.uid);
}

/** The scheduler refuses pods of such a claim, so that no provisioner ever sees it, and none can report what is wrong. */
function invalidClass(
  { className }: ClaimRecord,
  storageClass: ClassRecord | undefined,
): BinderEvent | undefined {
  const problem = storageClass?.driveClassProblem;
  if (problem === undefined) return undefined;
  const note = `storageclass "${className}" is invalid: ${problem}`;
  return { type: 'Warning', reason: 'ProvisioningFailed', note };
}

function waitingForPod(index: ClusterIndex, claim: ClaimRecord): BinderEvent {
  const pods = [...index.pods.usingClaim(claim.key)]
    .filter(({ nodeName, isFinished }) => nodeName === '' && !isFinished)
    .map(({ name }) => name)
    .sort();
  if (pods.length === 0) return waitingForConsumer;
  const who = pods.length === 1 ? 'pod' : 'pods';
  const note = `waiting for ${who} ${pods.join(',')} to be scheduled`;
  return { type: 'Normal', reason: 'WaitForPodScheduled', note };
}

const waitingForConsumer: BinderEvent = {
  type: 'Normal',
  reason: 'WaitForFirstConsumer',
  note: 'waiting for first consumer to be created before binding',
};
const nothingAvailable: BinderEvent = {
  type: 'Normal',
  reason: 'FailedBinding',
  note: 'no persistent volumes available for this claim and no storage class is set',
};
const lostReference: BinderEvent = {
  type: 'Warning',
  reason: 'ClaimLost',
  note: 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
};
const lostVolume: BinderEvent = {
  type: 'Warning',
  reason: 'ClaimLost',
  note: 'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
};
const claimMisbound: BinderEvent = {
  type: 'Warning',
  reason: 'ClaimMisbound',
  note: 'Two claims are bound to the same volume, this one is bound incorrectly',
};

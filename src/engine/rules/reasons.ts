/**
 * Why a pod doesn't fit: a closed catalogue with stable codes. `docs/reasons.md` is made from it.
 *
 * - `sentence` says it for one node (or for the pod) in words of our own.
 * - `upstream` is the text that kube-scheduler gives and that people and tools match on.
 * - `remedy` says what would help.
 * - `podsInTheWay`: it may be that other pods on the node are all that is in the way, so that evicting some would help. A rule can
 *   say otherwise for one node (`rejectForGood`).
 */
export interface ReasonText {
  readonly sentence: string;
  readonly upstream: string;
  readonly remedy: string;
  readonly podsInTheWay?: true;
}

const noMatch = "node(s) didn't find available persistent volumes to bind";
const noSpace = 'node(s) did not have enough free storage';

/** Reasons that a single node is refused for. */
export const nodeReasons = {
  BoundVolumeUnreachable: {
    sentence: 'a volume that the pod already has cannot be reached from this node',
    upstream: "node(s) didn't match PersistentVolume's node affinity",
    remedy: "run the pod on a node that the volume's node affinity admits, or add one",
  },
  NoVolumeFits: {
    sentence: 'no free volume on this node fits the claim, and its class makes none',
    upstream: noMatch,
    remedy:
      'add a PersistentVolume of the class and size that this node can reach, or a class with a provisioner',
  },
  VolumesNotTogether: {
    sentence: 'each claim has a volume on this node, but not all of them at once',
    upstream: noMatch,
    remedy: 'add one more PersistentVolume that this node can reach',
  },
  ClaimPinnedElsewhere: {
    sentence: 'the claim is being provisioned for another node',
    upstream: noMatch,
    remedy:
      'wait for the provisioner, or remove the annotation volume.kubernetes.io/selected-node if its node is gone',
  },
  PreboundVolumeElsewhere: {
    sentence: 'the volume that is reserved for the claim cannot be reached from this node',
    upstream: noMatch,
    remedy: "run the pod on a node that the volume's node affinity admits, or clear the volume's claimRef",
  },
  TopologyNotAllowed: {
    sentence: "the class's allowedTopologies leave this node out",
    upstream: noMatch,
    remedy: "add this node's topology to the class's allowedTopologies, or use another class",
  },
  NotEnoughCapacity: {
    sentence: 'no pool that this node reaches has room for the volume',
    upstream: noSpace,
    remedy: 'free or add capacity in a pool that this node reaches, or ask for less',
  },
  CapacityNotTogether: {
    sentence: 'each volume would fit a pool of this node, but not all of them at once',
    upstream: noSpace,
    remedy: 'free or add capacity in a pool that this node reaches, or ask for less',
  },
  BoundVolumeMissing: {
    sentence: 'the claim is bound to a volume that does not exist',
    upstream: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
    remedy: 'restore the PersistentVolume, or delete the claim and restore its data',
  },
  SearchBoundReached: {
    sentence:
      'the pod has too many volumes to try every way to place them; the quick ways did not work on this node',
    upstream: noMatch,
    remedy: 'split the pod, or give it fewer volumes that must share this node',
  },
  AttachLimitReached: {
    podsInTheWay: true,
    sentence: 'the node cannot attach that many volumes of the driver',
    upstream: 'node(s) exceed max volume count',
    remedy: 'add a node, or move pods with volumes of this driver away from this one',
  },
  DriverNotInstalled: {
    podsInTheWay: true,
    sentence: 'the CSI driver of a volume is not installed on this node',
    upstream: '{driver} CSI driver is not installed on the node',
    remedy: "install the driver's node plugin there",
  },
  ZoneMismatch: {
    sentence: "the volume's zone labels name another zone",
    upstream: 'node(s) had no available volume zone',
    remedy: "run the pod in the volume's zone",
  },
} as const satisfies Record<string, ReasonText>;

/** Reasons that hold for the pod wherever it would run. */
export const podReasons = {
  ClaimNotFound: {
    sentence: 'the claim does not exist',
    upstream: 'persistentvolumeclaim "{claim}" not found',
    remedy: "create the claim in the pod's namespace",
  },
  EphemeralClaimNotCreated: {
    sentence: 'the claim of an ephemeral volume has not been created yet',
    upstream: 'waiting for ephemeral volume controller to create the persistentvolumeclaim "{claim}"',
    remedy: 'wait; if it lasts, see whether the ephemeral volume controller runs',
  },
  ClaimLost: {
    sentence: 'the claim has lost its volume',
    upstream: 'persistentvolumeclaim "{claim}" bound to non-existent persistentvolume "{volume}"',
    remedy: 'restore the PersistentVolume, or delete the claim and restore its data',
  },
  VolumeNotFound: {
    sentence: 'the claim is bound to a volume that does not exist',
    upstream: 'persistentvolume "{volume}" not found',
    remedy: 'restore the PersistentVolume, or delete the claim and restore its data',
  },
  ClaimDeleting: {
    sentence: 'the claim is being deleted',
    upstream: 'persistentvolumeclaim "{claim}" is being deleted',
    remedy: 'wait until it is gone and create it anew',
  },
  ClaimOfAnotherPod: {
    sentence: "a claim with the ephemeral volume's name exists and does not belong to this pod",
    upstream: 'PVC {key} was not created for pod {pod} (pod is not owner)',
    remedy: 'delete or rename that claim, or rename the pod or its volume',
  },
  UnboundImmediateClaim: {
    sentence: 'the claim is not bound yet, and its class does not wait for the scheduler',
    upstream: 'pod has unbound immediate PersistentVolumeClaims',
    remedy:
      'see the events of the claim; a class with volumeBindingMode WaitForFirstConsumer lets the scheduler choose',
  },
  ClassWithoutBindingMode: {
    sentence: "the claim's class has no volumeBindingMode",
    upstream: 'VolumeBindingMode not set for StorageClass "{class}"',
    remedy: 'set volumeBindingMode to Immediate or WaitForFirstConsumer',
  },
  MalformedClaim: {
    sentence: 'what the claim asks for cannot be read',
    upstream: 'persistentvolumeclaim "{claim}" is malformed: {problem}',
    remedy: 'correct the field that the message names',
  },
  MalformedPod: {
    sentence: 'a volume of the pod cannot be read',
    upstream: 'pod "{pod}" is malformed: {problem}',
    remedy: 'correct the field that the message names',
  },
} as const satisfies Record<string, ReasonText>;

export type NodeReason = keyof typeof nodeReasons;
export type PodReason = keyof typeof podReasons;
export type Reason = NodeReason | PodReason;

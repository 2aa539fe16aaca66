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
  readonly resolvableByPreemption?: true;
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
  RecentlyFailed: {
    sentence: 'a volume for the claim could not be made on this node a moment ago',
    upstream: 'node(s) recently failed to provide a volume',
    remedy: 'see the events of the claim; the node is tried again when its pool is updated, or after a while',
  },
  SearchBoundReached: {
    sentence:
      'the pod has too many volumes to try every way to place them; the quick ways did not work on this node',
    upstream: noMatch,
    remedy: 'split the pod, or give it fewer volumes that must share this node',
  },
  AttachLimitReached: {
    resolvableByPreemption: true,
    sentence: 'the node cannot attach that many volumes of the driver',
    upstream: 'node(s) exceed max volume count',
    remedy: 'add a node, or move pods with volumes of this driver away from this one',
  },
  DriverNotInstalled: {
    resolvableByPreemption: true,
    sentence: 'the CSI driver of a volume is not installed on this node',
    upstream: '{driver} CSI driver is not installed on the node',
    remedy: "install the driver's node plugin there",
  },
  ZoneMismatch: {
    sentence: "the volume's zone labels name another zone",
    upstream: 'node(s) had no available volume zone',
    remedy: "run the pod in the volume's zone",
  },
  TooManyPods: {
    resolvableByPreemption: true,
    sentence: 'the node runs as many pods as it may',
    upstream: 'Too many pods',
    remedy: "add a node, move pods away from this one, or raise its kubelet's maxPods",
  },
  InsufficientCpu: {
    resolvableByPreemption: true,
    sentence: 'the node has too little cpu left',
    upstream: 'Insufficient cpu',
    remedy: 'add a node, move pods away from this one, or ask for less cpu',
  },
  InsufficientMemory: {
    resolvableByPreemption: true,
    sentence: 'the node has too little memory left',
    upstream: 'Insufficient memory',
    remedy: 'add a node, move pods away from this one, or ask for less memory',
  },
  InsufficientEphemeralStorage: {
    resolvableByPreemption: true,
    sentence: 'the node has too little ephemeral storage left',
    upstream: 'Insufficient ephemeral-storage',
    remedy: 'add a node, move pods away from this one, or ask for less ephemeral storage',
  },
  InsufficientResource: {
    resolvableByPreemption: true,
    sentence: 'the node has too little left of a resource that the pod asks for by name',
    upstream: 'Insufficient {resource}',
    remedy: 'add a node that has the resource, move pods away from this one, or ask for less',
  },
  PortsTaken: {
    resolvableByPreemption: true,
    sentence: 'another pod on the node has a port that the pod needs',
    upstream: "node(s) didn't have free ports for the requested pod ports",
    remedy: 'add a node, move the other pod away, or choose another hostPort',
  },
  AffinityNotMet: {
    sentence: 'a pod that this one must be near is not in the same topology as the node',
    upstream: "node(s) didn't match pod affinity rules",
    remedy: 'run the pod that the affinity selects there first, or make the affinity a preference',
  },
  AntiAffinityNotMet: {
    resolvableByPreemption: true,
    sentence: 'a pod that this one must be apart from is in the same topology as the node',
    upstream: "node(s) didn't match pod anti-affinity rules",
    remedy: 'add a node in another topology, move that pod away, or make the anti-affinity a preference',
  },
  RefusedByNeighbours: {
    resolvableByPreemption: true,
    sentence: 'a pod in the same topology as the node must be apart from this one',
    upstream: "node(s) didn't satisfy existing pods anti-affinity rules",
    remedy: "add a node in another topology, or change that pod's anti-affinity or this pod's labels",
  },
  SpreadExceeded: {
    resolvableByPreemption: true,
    sentence: 'the pods would be spread too unevenly with one more in the topology of this node',
    upstream: "node(s) didn't match pod topology spread constraints",
    remedy: 'make room in the topologies that have fewest of these pods, or raise maxSkew',
  },
  SpreadLabelMissing: {
    sentence: 'the node lacks a label that the pods are to be spread by',
    upstream: "node(s) didn't match pod topology spread constraints (missing required label)",
    remedy: 'label the node with the topology key of the spread constraint',
  },
  MarkedUnschedulable: {
    sentence: 'the node is marked as unschedulable',
    upstream: 'node(s) were unschedulable',
    remedy: 'uncordon the node, or have the pod tolerate node.kubernetes.io/unschedulable',
  },
  OtherNodeRequested: {
    sentence: 'the pod asks for another node in spec.nodeName',
    upstream: "node(s) didn't match the requested node name",
    remedy: 'remove spec.nodeName, or name a node that exists',
  },
  TaintNotTolerated: {
    sentence: 'the node has a taint that the pod does not tolerate',
    upstream: 'node(s) had untolerated taint(s)',
    remedy: 'add a toleration to the pod, or remove the taint',
  },
  NodeAffinityMismatch: {
    sentence: "the node does not match the pod's node selector or required node affinity",
    upstream: "node(s) didn't match Pod's node affinity/selector",
    remedy: 'label the node, or ask for labels that it has',
  },
  LeftOutByName: {
    sentence: "the pod's required node affinity names other nodes",
    upstream: "node(s) didn't satisfy plugin(s) [NodeAffinity]",
    remedy: 'see why the nodes that it names do not do; a DaemonSet makes such a pod for each of its nodes',
  },
  DiskInUse: {
    resolvableByPreemption: true,
    sentence: 'another pod on the node uses a disk that the pod names and that they cannot share',
    upstream: 'node(s) had no available disk',
    remedy: 'run the pod on another node, or wait until the other pod is gone',
  },
  ClaimInUse: {
    resolvableByPreemption: true,
    sentence: 'another pod uses a claim that only one pod may use at a time',
    upstream:
      'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    remedy: 'wait until the other pod is gone, or use a claim with another access mode',
  },
  FeatureNotDeclared: {
    sentence: 'the node does not declare a feature that the pod needs',
    upstream: "node(s) didn't match Pod's required features",
    remedy: 'add a node whose kubelet has the feature, or do without it',
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
  ClaimRollingBack: {
    sentence: "the claim's binding is being undone",
    upstream: 'persistentvolumeclaim "{claim}" is being rolled back',
    remedy: 'wait; if it lasts, see whether the scheduler runs',
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
  MalformedPodAffinity: {
    sentence: "the pod's affinity to other pods cannot be read",
    upstream: 'parsing pod: {problem}',
    remedy: 'correct the field that the message names',
  },
  MalformedSpread: {
    sentence: "the pod's topology spread constraints cannot be read",
    upstream: "get constraints from pod: obtaining pod's hard topology spread constraints: {problem}",
    remedy: 'correct the field that the message names',
  },
  AffinityTermsConflict: {
    sentence: "every term of the pod's required node affinity asks for two different nodes at once",
    upstream: 'pod affinity terms conflict',
    remedy: 'name one node in each term',
  },
  AlreadyReserved: {
    sentence: 'a pod of this name has been given a node and volumes already, and is still being bound',
    upstream: 'pod "{pod}" has a reservation already, on node "{node}"',
    remedy: 'wait until it has been bound or given up, or revert the reservation',
  },
  UnsupportedFeature: {
    sentence: 'the pod uses something that the scheduler does not support',
    upstream: 'pod uses {feature}, which the stowage scheduler does not support',
    remedy: 'leave the field out, or have another scheduler place the pod (spec.schedulerName)',
  },
  UnknownFieldValue: {
    sentence: 'a field of the pod has a value that the scheduler does not know',
    upstream: 'pod has {value}, which the stowage scheduler does not know',
    remedy:
      'correct the field that the message names, or have another scheduler place the pod (spec.schedulerName)',
  },
} as const satisfies Record<string, ReasonText>;

export type NodeReason = keyof typeof nodeReasons;
export type PodReason = keyof typeof podReasons;
export type Reason = NodeReason | PodReason;

/** What people read: the reason's text with the words that it has gaps for. */
export function podMessage(reason: PodReason, words: Readonly<Record<string, string>>): string {
  return podReasons[reason].upstream.replace(/\{(\w+)\}/g, (_, word: string) => words[word] ?? '');
}

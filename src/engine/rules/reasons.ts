/**
 * Why a pod does not fit: a closed catalogue with stable codes. `docs/reasons.md` is generated from it.
 *
 * - `sentence` describes the reason for one node (or for the pod).
 * - `upstream` is kube-scheduler's message, which users and tools match on.
 * - `remedy` says what would help.
 * - `resolvableByPreemption`: other pods on the node may be the only obstacle, so that evicting some would help. A rule can override this
 *   for one node (`rejectUnresolvable`).
 */
export interface ReasonText {
  readonly sentence: string;
  readonly upstream: string;
  readonly remedy: string;
  readonly resolvableByPreemption?: true;
}

const noMatch = "node(s) didn't find available persistent volumes to bind";
const noSpace = 'node(s) did not have enough free storage';

/** Reasons that refuse a single node. */
export const nodeReasons = {
  BoundVolumeUnreachable: {
    sentence: 'this node cannot reach a volume that the pod already has',
    upstream: "node(s) didn't match PersistentVolume's node affinity",
    remedy: "run the pod on a node that matches the volume's node affinity, or add such a node",
  },
  NoVolumeFits: {
    sentence: 'no available volume on this node fits the claim, and its class provisions none',
    upstream: noMatch,
    remedy:
      'add a PersistentVolume of the class and size that this node can reach, or use a class with a provisioner',
  },
  VolumesNotTogether: {
    sentence: 'each claim finds a volume on this node, but not all of them at the same time',
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
    sentence: 'this node cannot reach the volume that is reserved for the claim',
    upstream: noMatch,
    remedy: "run the pod on a node that matches the volume's node affinity, or clear the volume's claimRef",
  },
  TopologyNotAllowed: {
    sentence: "the allowedTopologies of the claim's class exclude this node",
    upstream: noMatch,
    remedy: "add this node's topology to the class's allowedTopologies, or use another class",
  },
  NotEnoughCapacity: {
    sentence: 'no pool that this node can reach has enough free capacity for the volume',
    upstream: noSpace,
    remedy: 'free or add capacity in a pool that this node can reach, or request less',
    // Only inline volumes end with their pod; the rule says so for each node.
    resolvableByPreemption: true,
  },
  NoDriveAdded: {
    sentence: 'the volume needs a drive, and no drive has been added to the cluster',
    upstream: noSpace,
    remedy:
      'as root on a node with a free disk: stowage drives discover, then stowage drives init; docs/drives-tutorial.md shows each step',
  },
  NoDriveOfKind: {
    sentence: 'no drive of this node has the access tier and the labels that the volume asks for',
    upstream: 'node(s) had no drive of the access tier or with the labels that the volume asks for',
    remedy:
      'add such a drive to this node, change a drive with stowage drives tier or stowage drives label, or use another class',
  },
  TooFewDrivesToSpread: {
    sentence:
      'this node has too few drives without a volume of the same owner, and the class or claim keeps the volumes of an owner apart',
    upstream: 'node(s) had too few drives without a volume of the same owner',
    remedy:
      'add a drive to this node, uncordon one, or use a class without spreadBy and stowage.dev/volume-anti-affinity',
    // Inline volumes of other pods may be on the drives that the owner has not used yet.
    resolvableByPreemption: true,
  },
  VolumeOfOwnerOnNode: {
    sentence:
      'this node has a volume of the same owner, and the class or claim keeps them on different nodes',
    upstream: 'node(s) had a volume of the same owner',
    remedy: 'add a node, or remove nodes from the annotation stowage.dev/volume-anti-affinity',
  },
  VolumeOfOwnerInZone: {
    sentence:
      'the zone of this node has a volume of the same owner, and the class or claim keeps them in different zones',
    upstream: 'node(s) were in a zone with a volume of the same owner',
    remedy:
      'add a node in another zone, or remove zones from the annotation stowage.dev/volume-anti-affinity',
  },
  CapacityNotTogether: {
    sentence: 'each volume fits a pool of this node, but not all of them at the same time',
    upstream: noSpace,
    remedy: 'free or add capacity in a pool that this node can reach, or request less',
  },
  BoundVolumeMissing: {
    sentence: 'the claim is bound to a volume that does not exist',
    upstream: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
    remedy: 'restore the PersistentVolume, or delete the claim and restore its data',
  },
  RecentlyFailed: {
    sentence: 'provisioning a volume for the claim failed on this node a moment ago',
    upstream: 'node(s) recently failed to provide a volume',
    remedy:
      'see the events of the claim; the scheduler tries the node again when its pool is updated, or after a while',
  },
  SearchBoundReached: {
    sentence:
      'the pod has too many volumes to try every combination, and the fast search found none that fits this node',
    upstream: noMatch,
    remedy: 'split the pod, or give it fewer volumes that must share a node',
  },
  AttachLimitReached: {
    resolvableByPreemption: true,
    sentence: 'the node cannot attach that many volumes of the CSI driver',
    upstream: 'node(s) exceed max volume count',
    remedy: 'add a node, or move pods with volumes of this driver to other nodes',
  },
  DriverNotInstalled: {
    resolvableByPreemption: true,
    sentence: 'the CSI driver of a volume is not installed on this node',
    upstream: '{driver} CSI driver is not installed on the node',
    remedy: "install the driver's node plugin on the node",
  },
  ZoneMismatch: {
    sentence: "the volume's zone labels name another zone",
    upstream: 'node(s) had no available volume zone',
    remedy: "run the pod in the volume's zone",
  },
  TooManyPods: {
    resolvableByPreemption: true,
    sentence: 'the node already runs its maximum number of pods',
    upstream: 'Too many pods',
    remedy: "add a node, move pods to other nodes, or raise the kubelet's maxPods",
  },
  InsufficientCpu: {
    resolvableByPreemption: true,
    sentence: 'the node has too little free cpu',
    upstream: 'Insufficient cpu',
    remedy: 'add a node, move pods to other nodes, or request less cpu',
  },
  InsufficientMemory: {
    resolvableByPreemption: true,
    sentence: 'the node has too little free memory',
    upstream: 'Insufficient memory',
    remedy: 'add a node, move pods to other nodes, or request less memory',
  },
  InsufficientEphemeralStorage: {
    resolvableByPreemption: true,
    sentence: 'the node has too little free ephemeral storage',
    upstream: 'Insufficient ephemeral-storage',
    remedy: 'add a node, move pods to other nodes, or request less ephemeral storage',
  },
  InsufficientResource: {
    resolvableByPreemption: true,
    sentence: 'the node has too little of an extended resource that the pod requests',
    upstream: 'Insufficient {resource}',
    remedy: 'add a node that has the resource, move pods to other nodes, or request less',
  },
  UnsupportedFeatureOnNode: {
    sentence:
      'the node does not advertise an extended resource that the pod requests, and a DeviceClass serves it there (dynamic resource allocation), which the scheduler does not support',
    upstream:
      'node(s) serve {resource} by a DeviceClass (dynamic resource allocation), which the stowage scheduler does not support',
    remedy:
      'add a node whose device plugin advertises the resource, or let another scheduler place the pod (spec.schedulerName)',
  },
  PortsTaken: {
    resolvableByPreemption: true,
    sentence: 'another pod on the node uses a host port that the pod needs',
    upstream: "node(s) didn't have free ports for the requested pod ports",
    remedy: 'add a node, move the other pod to another node, or choose another hostPort',
  },
  AffinityNotMet: {
    sentence: "the node's topology domain has no pod that the pod's required affinity selects",
    upstream: "node(s) didn't match pod affinity rules",
    remedy: 'first run a pod that the affinity selects there, or make the affinity a preference',
  },
  AntiAffinityNotMet: {
    resolvableByPreemption: true,
    sentence: "the node's topology domain has a pod that the pod's required anti-affinity excludes",
    upstream: "node(s) didn't match pod anti-affinity rules",
    remedy:
      'add a node in another topology domain, move that pod to another domain, or make the anti-affinity a preference',
  },
  RefusedByNeighbours: {
    resolvableByPreemption: true,
    sentence: "a pod in the node's topology domain has a required anti-affinity that excludes this pod",
    upstream: "node(s) didn't satisfy existing pods anti-affinity rules",
    remedy: "add a node in another topology domain, or change that pod's anti-affinity or this pod's labels",
  },
  SpreadExceeded: {
    resolvableByPreemption: true,
    sentence:
      "one more pod in the node's topology domain would exceed the maxSkew of a topology spread constraint",
    upstream: "node(s) didn't match pod topology spread constraints",
    remedy: 'free capacity in the topology domains that have the fewest of these pods, or raise maxSkew',
  },
  SpreadLabelMissing: {
    sentence: 'the node lacks the label of a topology spread constraint',
    upstream: "node(s) didn't match pod topology spread constraints (missing required label)",
    remedy: 'label the node with the topology key of the spread constraint',
  },
  MarkedUnschedulable: {
    sentence: 'the node is marked as unschedulable',
    upstream: 'node(s) were unschedulable',
    remedy: 'uncordon the node, or add a toleration for node.kubernetes.io/unschedulable to the pod',
  },
  OtherNodeRequested: {
    sentence: 'the pod requests another node in spec.nodeName',
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
    remedy: 'label the node, or select labels that it has',
  },
  LeftOutByName: {
    sentence: "the pod's required node affinity names other nodes",
    upstream: "node(s) didn't satisfy plugin(s) [NodeAffinity]",
    remedy: 'see why the named nodes do not fit; a DaemonSet creates such a pod for each of its nodes',
  },
  DiskInUse: {
    resolvableByPreemption: true,
    sentence: 'another pod on the node uses a disk that the pod names, and they cannot share it',
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
    remedy: 'add a node whose kubelet has the feature, or remove what needs it from the pod',
  },
} as const satisfies Record<string, ReasonText>;

/** Reasons that refuse the pod on every node. */
export const podReasons = {
  ClaimNotFound: {
    sentence: 'the claim does not exist',
    upstream: 'persistentvolumeclaim "{claim}" not found',
    remedy: "create the claim in the pod's namespace",
  },
  EphemeralClaimNotCreated: {
    sentence: 'the claim of an ephemeral volume has not been created yet',
    upstream: 'waiting for ephemeral volume controller to create the persistentvolumeclaim "{claim}"',
    remedy: 'wait; if this persists, check that the ephemeral volume controller is running',
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
    remedy: 'wait until it is gone, then recreate it',
  },
  ClaimRollingBack: {
    sentence: "the claim's binding is being undone",
    upstream: 'persistentvolumeclaim "{claim}" is being rolled back',
    remedy: 'wait; if this persists, check that the scheduler is running',
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
  InvalidClass: {
    sentence: "the parameters of the claim's class are invalid, so that no volume can be created",
    upstream: 'storageclass "{class}" of persistentvolumeclaim "{claim}" is invalid: {problem}',
    remedy:
      'delete the class and create it with the parameter that the message names corrected: parameters of a class cannot change',
  },
  MalformedClaim: {
    sentence: 'a field of the claim is malformed',
    upstream: 'persistentvolumeclaim "{claim}" is malformed: {problem}',
    remedy: 'correct the field that the message names',
  },
  MalformedPod: {
    sentence: 'a volume of the pod is malformed',
    upstream: 'pod "{pod}" is malformed: {problem}',
    remedy: 'correct the field that the message names',
  },
  MalformedPodAffinity: {
    sentence: "the pod's affinity to other pods is malformed",
    upstream: 'parsing pod: {problem}',
    remedy: 'correct the field that the message names',
  },
  MalformedSpread: {
    sentence: "the pod's topology spread constraints are malformed",
    upstream: "get constraints from pod: obtaining pod's hard topology spread constraints: {problem}",
    remedy: 'correct the field that the message names',
  },
  AffinityTermsConflict: {
    sentence: "every term of the pod's required node affinity names two different nodes at once",
    upstream: 'pod affinity terms conflict',
    remedy: 'name one node in each term',
  },
  AlreadyReserved: {
    sentence: 'a pod of this name already has a reservation for a node and volumes, and is still being bound',
    upstream: 'pod "{pod}" already has a reservation on node "{node}"',
    remedy: 'wait until the pod is bound, or revert the reservation',
  },
  UnsupportedFeature: {
    sentence: 'the pod uses a feature that the scheduler does not support',
    upstream: 'pod uses {feature}, which the stowage scheduler does not support',
    remedy: 'remove the field, or let another scheduler place the pod (spec.schedulerName)',
  },
  UnknownFieldValue: {
    sentence: 'a field of the pod has a value that the scheduler does not know',
    upstream: 'pod has {value}, which the stowage scheduler does not know',
    remedy:
      'correct the field that the message names, or let another scheduler place the pod (spec.schedulerName)',
  },
} as const satisfies Record<string, ReasonText>;

export type NodeReason = keyof typeof nodeReasons;
export type PodReason = keyof typeof podReasons;
export type Reason = NodeReason | PodReason;

/** The reason's text with its placeholders filled in. */
export function podMessage(reason: PodReason, values: Readonly<Record<string, string>>): string {
  return podReasons[reason].upstream.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}

package main

/* What the TypeScript types say beyond Kubernetes' Go types. */

// closedTypes are closed sets of strings that Kubernetes does not mark with +enum.
var closedTypes = []string{
	"apiextensions.k8s.io/v1.ResourceScope",
	"apps/v1.PersistentVolumeClaimRetentionPolicyType",
	"core/v1.ConditionStatus",
	"meta/v1.ConditionStatus",
	"meta/v1.DeletionPropagation",
	"meta/v1.LabelSelectorOperator",
	"meta/v1.ManagedFieldsOperationType",
	"meta/v1.StatusReason",
	"storage.k8s.io/v1.FSGroupPolicy",
	"storage.k8s.io/v1.VolumeLifecycleMode",
}

// fieldTypes replace the Go type of a field by a more exact type of the core group and an alternative.
var fieldTypes = map[string]struct{ coreType, or string }{
	"core/v1.Event.type":          {"EventType", ""},
	"core/v1.Toleration.effect":   {"TaintEffect", " | ''"},
	"events.k8s.io/v1.Event.type": {"EventType", ""},
}

// int64Type is what both views call a 64-bit integer.
const int64Type = `
/** A 64-bit integer: a bigint beyond 2^53, where a number would be rounded, and a number otherwise. */
export type Int64 = number | bigint;
`

// preludes are types at the beginning of a group version's file.
var preludes = map[string]string{
	"meta/v1": `
/**
 * The common fields of all Kubernetes objects. An object may have more fields than its type, and keeps them: our code must never
 * rebuild an object from the known fields.
 */
export interface KubeObject extends TypeMeta {
  readonly metadata?: ObjectMeta;
}

/** RFC 3339 text such as ` + "`2026-01-31T12:00:00Z`" + `; MicroTime fields carry six fractional digits. */
export type Timestamp = string;

export type StringMap = Readonly<Record<string, string>>;

/** A quantity as JSON and YAML carry it. YAML turns an unquoted ` + "`10`" + ` into a number. */
export type QuantityText = string | number;

/** A port or a percentage may be given by number or by name. */
export type IntOrString = number | string;
` + int64Type,
	"core/v1": `
export type ResourceList = Readonly<Record<string, QuantityText>>;

export type EventType = 'Normal' | 'Warning';
`,
}

// preludeImports are the types that the preludes use from other files.
var preludeImports = map[string]map[string][]string{
	"core/v1": {"meta/v1": {"QuantityText"}},
}

// extraFields are no part of Kubernetes' API.
var extraFields = map[string]string{
	"core/v1.CSIVolumeSource": `  /**
   * Proposed with storage capacity tracking and never part of Kubernetes. Without it an inline volume has no size to
   * reserve.
   */
  readonly fsSize?: QuantityText;
`,
}

// comments are what we have to know about a type or a field to use it; by group version, type and field.
var comments = map[string]string{
	"apiextensions.k8s.io/v1.CustomResourceDefinition":                 "Cluster-scoped.",
	"apiextensions.k8s.io/v1.CustomResourceValidation.openAPIV3Schema": "A structural schema; the code that validates against it parses it.",
	"apps/v1.ControllerRevision":                                       "A copy of a workload's template that never changes; pods name the one that they follow.",
	"apps/v1.DeploymentSpec.replicas":                                  "Absent means 1.",
	"apps/v1.ReplicaSetSpec.replicas":                                  "Absent means 1.",
	"apps/v1.StatefulSetSpec.replicas":                                 "Absent means 1.",
	"autoscaling/v1.Scale":                                             "How many replicas there are and should be, of any kind that has replicas.",
	"core/v1.AzureDiskVolumeSource.kind":                               "`Shared` and `Dedicated` disks are in storage accounts of their own; only `Managed` ones migrate to CSI.",
	"core/v1.Binding":                                                  "Sent to a pod's `binding`: put it on `target`, a node.",
	"core/v1.CSIVolumeSource":                                          "An inline volume that a CSI driver makes for the pod and removes with it.",
	"core/v1.Container.restartPolicy":                                  "`Always` makes an init container a sidecar: it keeps running, and its requests are added, not maximised.",
	"core/v1.Event.reportingComponent":                                 "The JSON name of what the API calls ReportingController.",
	"core/v1.Namespace":                                                "Cluster-scoped.",
	"core/v1.Node":                                                     "Cluster-scoped.",
	"core/v1.NodeSelector.nodeSelectorTerms":                           "ORed; an empty list selects no node.",
	"core/v1.NodeSelectorTerm.matchExpressions":                        "ANDed with each other and with `matchFields`; a term with neither selects no node.",
	"core/v1.NodeStatus.allocatable":                                   "What pods may use: capacity less what the node reserves for itself.",
	"core/v1.NodeStatus.declaredFeatures":                              "Since 1.35: what this node's kubelet can do.",
	"core/v1.ObjectReference":                                          "Points at an object of any kind; a PV's claimRef and an Event's subject are of this type.",
	"core/v1.PersistentVolume":                                         "Cluster-scoped.",
	"core/v1.PersistentVolumeSource":                                   "Exactly one is set; in-tree disks are here because clusters older than their CSI drivers still have such volumes.",
	"core/v1.PersistentVolumeSpec.claimRef":                            "Names the claim that this volume is reserved for. It is the lock: the first writer has the volume.",
	"core/v1.PodAffinityTerm.labelSelector":                            "Absent selects no pod; empty selects every pod.",
	"core/v1.PodAffinityTerm.namespaceSelector":                        "Absent, with no `namespaces`: the pod's own. Empty: every namespace.",
	"core/v1.PodSpec.hostUsers":                                        "False: in a user namespace of its own.",
	"core/v1.PodSpec.resources":                                        "Resources of the pod as a whole; where present they replace the containers' sum.",
	"core/v1.Secret.data":                                              "Base64.",
	"core/v1.Toleration.effect":                                        "Empty matches every effect.",
	"core/v1.Toleration.key":                                           "Empty matches every key.",
	"core/v1.Toleration.operator":                                      "Empty means Equal. Lt and Gt compare whole numbers.",
	"events.k8s.io/v1.Event":                                           "The server stores it as the same object as the core group's event, which has the same fields under their older names.",
	"events.k8s.io/v1.EventSeries":                                     "A repeated event: how often, and when last.",
	"meta/v1.ManagedFieldsEntry":                                       "The owners of fields, for server-side apply; `fieldsV1` is opaque outside of the code that applies.",
	"meta/v1.Status":                                                   "The response of the API where there is no object: why a request failed, or that it succeeded.",
	"meta/v1.StatusDetails.kind":                                       "The plural of the resource, or the kind where a whole object was refused.",
	"meta/v1.StatusReason":                                             "The machine-readable reasons; clients decide by them, so they are exact.",
	"policy/v1.Eviction":                                               "Sent to a pod's `eviction`: delete it, unless a budget forbids that now.",
	"policy/v1.PodDisruptionBudget":                                    "How many of these pods may be evicted at once. Preemption checks it before it evicts.",
	"policy/v1.PodDisruptionBudgetSpec.selector":                       "Absent selects no pod; empty selects every pod of the namespace.",
	"policy/v1.PodDisruptionBudgetStatus.disruptedPods":                "Pod name to the time of an eviction whose pod the controller still expects to go.",
	"scheduling.k8s.io/v1.PriorityClass":                               "Cluster-scoped: a name for a pod's priority.",
	"storage.k8s.io/v1.CSIDriver":                                      "Cluster-scoped.",
	"storage.k8s.io/v1.CSIDriverSpec.attachRequired":                   "Absent means true: the driver needs a VolumeAttachment before a volume is used.",
	"storage.k8s.io/v1.CSIDriverSpec.preventPodSchedulingIfMissing":    "True: a node whose CSINode lacks this driver is refused; otherwise such a node counts as without limit.",
	"storage.k8s.io/v1.CSIDriverSpec.storageCapacity":                  "True: the scheduler uses CSIStorageCapacity objects, and finds no space where there are none.",
	"storage.k8s.io/v1.CSINode":                                        "Cluster-scoped. Has the name of its node; says which drivers run there and how many volumes each can attach.",
	"storage.k8s.io/v1.CSIStorageCapacity":                             "How much capacity one class has in one part of the cluster. Namespaced.",
	"storage.k8s.io/v1.CSIStorageCapacity.maximumVolumeSize":           "The largest single volume; where it is set, it is compared with the request instead of `capacity`.",
	"storage.k8s.io/v1.CSIStorageCapacity.nodeTopology":                "Absent: no node at all. Empty selector: every node.",
	"storage.k8s.io/v1.StorageClass":                                   "Cluster-scoped.",
	"storage.k8s.io/v1.VolumeAttachment":                               "Cluster-scoped.",
	"storage.k8s.io/v1.VolumeAttributesClass":                          "Cluster-scoped.",
	"storage.k8s.io/v1.VolumeNodeResources.count":                      "No count means no limit.",
}

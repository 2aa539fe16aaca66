import type { Taint } from './core-placement.ts';
import type { Protocol } from './core-pod.ts';
import type {
  Condition,
  IntOrString,
  KubeObject,
  ObjectReference,
  ResourceList,
  StringMap,
  Timestamp,
} from './meta.ts';

/*
 * The core group, `v1`: as much of each kind as Stowage reads or writes. Fields that are missing here are not lost,
 * they travel along with the object; nothing of ours may rebuild an object from its known fields. The group is too
 * large for one file; this is its door, the rest stands in the three files behind it.
 */

export type * from './core-placement.ts';
export type * from './core-pod.ts';
export type * from './core-volume.ts';

/** Cluster-scoped. */
export interface Node extends KubeObject {
  readonly spec?: NodeSpec;
  readonly status?: NodeStatus;
}

export interface NodeSpec {
  readonly podCIDR?: string;
  readonly providerID?: string;
  readonly unschedulable?: boolean;
  readonly taints?: readonly Taint[];
}

export interface NodeStatus {
  readonly capacity?: ResourceList;
  /** What pods may use: capacity less what the node keeps for itself. */
  readonly allocatable?: ResourceList;
  readonly conditions?: readonly NodeCondition[];
  readonly addresses?: readonly { readonly type?: string; readonly address?: string }[];
  readonly nodeInfo?: StringMap;
  readonly images?: readonly ContainerImage[];
  /** Since 1.35: what this node's kubelet can do. */
  readonly declaredFeatures?: readonly string[];
  readonly volumesInUse?: readonly string[];
  readonly volumesAttached?: readonly { readonly name?: string; readonly devicePath?: string }[];
}

export interface ContainerImage {
  readonly names?: readonly string[];
  readonly sizeBytes?: number;
}

export interface NodeCondition extends Condition {
  readonly lastHeartbeatTime?: Timestamp;
}

/** Cluster-scoped. */
export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: 'Active' | 'Terminating'; readonly conditions?: readonly Condition[] };
}

export interface Event extends KubeObject {
  readonly involvedObject?: ObjectReference;
  readonly related?: ObjectReference;
  readonly type?: 'Normal' | 'Warning';
  readonly reason?: string;
  readonly message?: string;
  readonly action?: string;
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly count?: number;
  readonly firstTimestamp?: Timestamp | null;
  readonly lastTimestamp?: Timestamp | null;
  readonly eventTime?: Timestamp | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: Timestamp };
  /** The wire name of what the API calls ReportingController. */
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}

export interface ConfigMap extends KubeObject {
  readonly immutable?: boolean;
  readonly data?: StringMap;
  readonly binaryData?: StringMap;
}

export interface Secret extends KubeObject {
  readonly immutable?: boolean;
  readonly type?: string;
  /** Base64. */
  readonly data?: StringMap;
  readonly stringData?: StringMap;
}

export interface Service extends KubeObject {
  readonly spec?: ServiceSpec;
}

export interface ServiceSpec {
  readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
  readonly clusterIP?: string;
  readonly selector?: StringMap;
  readonly ports?: readonly ServicePort[];
}

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: Protocol;
  readonly port?: number;
  readonly targetPort?: IntOrString;
  readonly nodePort?: number;
}

export interface ReplicationController extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly selector?: StringMap };
}

export interface ServiceAccount extends KubeObject {
  readonly secrets?: readonly ObjectReference[];
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
  readonly automountServiceAccountToken?: boolean;
}

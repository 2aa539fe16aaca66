// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type { NodeSelector } from './core.ts';
import type { Condition, Int64, KubeObject, ObjectMeta, QuantityText, Timestamp } from './meta.ts';

export type AllocationConfigSource = 'FromClass' | 'FromClaim';

export type DeviceTaintEffect = 'None' | 'NoSchedule' | 'NoExecute';

export type DeviceTolerationOperator = 'Exists' | 'Equal';

export interface AllocatedDeviceStatus {
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
  readonly shareID?: string;
  readonly conditions?: readonly Condition[];
  readonly data?: unknown;
  readonly networkData?: NetworkDeviceData;
}

export interface AllocationResult {
  readonly devices?: DeviceAllocationResult;
  readonly nodeSelector?: NodeSelector;
  readonly allocationTimestamp?: Timestamp;
}

export interface CELDeviceSelector {
  readonly expression?: string;
}

export interface CapacityRequestPolicy {
  readonly default?: QuantityText;
  readonly validValues?: readonly QuantityText[];
  readonly validRange?: CapacityRequestPolicyRange;
}

export interface CapacityRequestPolicyRange {
  readonly min?: QuantityText;
  readonly max?: QuantityText;
  readonly step?: QuantityText;
}

export interface CapacityRequirements {
  readonly requests?: Readonly<Record<string, QuantityText>>;
}

export interface Counter {
  readonly value?: QuantityText;
}

export interface CounterSet {
  readonly name?: string;
  readonly counters?: Readonly<Record<string, Counter>>;
}

export interface Device {
  readonly name?: string;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly capacity?: Readonly<Record<string, DeviceCapacity>>;
  readonly consumesCounters?: readonly DeviceCounterConsumption[];
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
  readonly taints?: readonly DeviceTaint[];
  readonly bindsToNode?: boolean;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly allowMultipleAllocations?: boolean;
  readonly nodeAllocatableResourceMappings?: Readonly<Record<string, NodeAllocatableResourceMapping>>;
}

export interface DeviceAllocationConfiguration {
  readonly source?: AllocationConfigSource;
  readonly requests?: readonly string[];
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceAllocationResult {
  readonly results?: readonly DeviceRequestAllocationResult[];
  readonly config?: readonly DeviceAllocationConfiguration[];
}

export interface DeviceAttribute {
  readonly int?: Int64;
  readonly bool?: boolean;
  readonly string?: string;
  readonly version?: string;
  readonly ints?: readonly Int64[];
  readonly bools?: readonly boolean[];
  readonly strings?: readonly string[];
  readonly versions?: readonly string[];
}

export interface DeviceCapacity {
  readonly value?: QuantityText;
  readonly requestPolicy?: CapacityRequestPolicy;
}

export interface DeviceClaim {
  readonly requests?: readonly DeviceRequest[];
  readonly constraints?: readonly DeviceConstraint[];
  readonly config?: readonly DeviceClaimConfiguration[];
}

export interface DeviceClaimConfiguration {
  readonly requests?: readonly string[];
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceClass extends KubeObject {
  readonly spec?: DeviceClassSpec;
}

export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceClassSpec {
  readonly selectors?: readonly DeviceSelector[];
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
}

export interface DeviceConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceConstraint {
  readonly requests?: readonly string[];
  readonly matchAttribute?: string;
  readonly distinctAttribute?: string;
}

export interface DeviceCounterConsumption {
  readonly counterSet?: string;
  readonly counters?: Readonly<Record<string, Counter>>;
}

export interface DeviceRequest {
  readonly name?: string;
  readonly exactly?: ExactDeviceRequest;
  readonly firstAvailable?: readonly DeviceSubRequest[];
}

export interface DeviceRequestAllocationResult {
  readonly request?: string;
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly shareID?: string;
  readonly consumedCapacity?: Readonly<Record<string, QuantityText>>;
}

export interface DeviceSelector {
  readonly cel?: CELDeviceSelector;
}

export interface DeviceSubRequest {
  readonly name?: string;
  readonly deviceClassName?: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly allocationMode?: string;
  readonly count?: Int64;
  readonly tolerations?: readonly DeviceToleration[];
  readonly capacity?: CapacityRequirements;
}

export interface DeviceTaint {
  readonly key?: string;
  readonly value?: string;
  readonly effect?: DeviceTaintEffect;
  readonly timeAdded?: Timestamp;
}

export interface DeviceToleration {
  readonly key?: string;
  readonly operator?: DeviceTolerationOperator;
  readonly value?: string;
  readonly effect?: DeviceTaintEffect;
  readonly tolerationSeconds?: Int64;
}

export interface ExactDeviceRequest {
  readonly deviceClassName?: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly allocationMode?: string;
  readonly count?: Int64;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly capacity?: CapacityRequirements;
}

export interface NetworkDeviceData {
  readonly interfaceName?: string;
  readonly ips?: readonly string[];
  readonly hardwareAddress?: string;
}

export interface NodeAllocatableResourceMapping {
  readonly capacityKey?: string;
  readonly allocationMultiplier?: QuantityText;
}

export interface OpaqueDeviceConfiguration {
  readonly driver?: string;
  readonly parameters?: unknown;
}

export interface ResourceClaim extends KubeObject {
  readonly spec?: ResourceClaimSpec;
  readonly status?: ResourceClaimStatus;
}

export interface ResourceClaimConsumerReference {
  readonly apiGroup?: string;
  readonly resource?: string;
  readonly name?: string;
  readonly uid?: string;
}

export interface ResourceClaimSpec {
  readonly devices?: DeviceClaim;
}

export interface ResourceClaimStatus {
  readonly allocation?: AllocationResult;
  readonly reservedFor?: readonly ResourceClaimConsumerReference[];
  readonly devices?: readonly AllocatedDeviceStatus[];
}

export interface ResourceClaimTemplate extends KubeObject {
  readonly spec?: ResourceClaimTemplateSpec;
}

export interface ResourceClaimTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec?: ResourceClaimSpec;
}

export interface ResourcePool {
  readonly name?: string;
  readonly generation?: Int64;
  readonly resourceSliceCount?: Int64;
}

export interface ResourceSlice extends KubeObject {
  readonly spec?: ResourceSliceSpec;
}

export interface ResourceSliceSpec {
  readonly driver?: string;
  readonly pool?: ResourcePool;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
  readonly devices?: readonly Device[];
  readonly perDeviceNodeSelection?: boolean;
  readonly sharedCounters?: readonly CounterSet[];
}

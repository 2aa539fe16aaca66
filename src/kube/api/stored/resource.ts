// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// The stored form, exactly as Go's encoder writes it.
import type { NodeSelector } from './core.ts';
import type { Condition, Int64, ObjectMeta } from './meta.ts';

export interface AllocatedDeviceStatus {
  driver: string;
  pool: string;
  device: string;
  shareID?: string | undefined;
  conditions: Condition[] | null;
  data?: unknown;
  networkData?: NetworkDeviceData | undefined;
}

export interface AllocationResult {
  devices: DeviceAllocationResult;
  nodeSelector?: NodeSelector | undefined;
  allocationTimestamp?: string | undefined;
}

export interface CELDeviceSelector {
  expression: string;
}

export interface CapacityRequestPolicy {
  default: string | null;
  validValues?: string[] | undefined;
  validRange?: CapacityRequestPolicyRange | undefined;
}

export interface CapacityRequestPolicyRange {
  min?: string | undefined;
  max?: string | undefined;
  step?: string | undefined;
}

export interface CapacityRequirements {
  requests?: Record<string, string> | undefined;
}

export interface Counter {
  value: string;
}

export interface CounterSet {
  name: string;
  counters?: Record<string, Counter> | undefined;
}

export interface Device {
  name: string;
  attributes?: Record<string, DeviceAttribute> | undefined;
  capacity?: Record<string, DeviceCapacity> | undefined;
  consumesCounters?: DeviceCounterConsumption[] | undefined;
  nodeName?: string | undefined;
  nodeSelector?: NodeSelector | undefined;
  allNodes?: boolean | undefined;
  taints?: DeviceTaint[] | undefined;
  bindsToNode?: boolean | undefined;
  bindingConditions?: string[] | undefined;
  bindingFailureConditions?: string[] | undefined;
  allowMultipleAllocations?: boolean | undefined;
  nodeAllocatableResourceMappings?: Record<string, NodeAllocatableResourceMapping> | undefined;
}

export interface DeviceAllocationConfiguration {
  source: string;
  requests?: string[] | undefined;
  opaque?: OpaqueDeviceConfiguration | undefined;
}

export interface DeviceAllocationResult {
  results?: DeviceRequestAllocationResult[] | undefined;
  config?: DeviceAllocationConfiguration[] | undefined;
}

export interface DeviceAttribute {
  int?: Int64 | undefined;
  bool?: boolean | undefined;
  string?: string | undefined;
  version?: string | undefined;
  ints?: Int64[] | undefined;
  bools?: boolean[] | undefined;
  strings?: string[] | undefined;
  versions?: string[] | undefined;
}

export interface DeviceCapacity {
  value: string;
  requestPolicy?: CapacityRequestPolicy | undefined;
}

export interface DeviceClaim {
  requests: DeviceRequest[] | null;
  constraints?: DeviceConstraint[] | undefined;
  config?: DeviceClaimConfiguration[] | undefined;
}

export interface DeviceClaimConfiguration {
  requests?: string[] | undefined;
  opaque?: OpaqueDeviceConfiguration | undefined;
}

export interface DeviceClass {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: DeviceClassSpec;
}

export interface DeviceClassConfiguration {
  opaque?: OpaqueDeviceConfiguration | undefined;
}

export interface DeviceClassSpec {
  selectors?: DeviceSelector[] | undefined;
  config?: DeviceClassConfiguration[] | undefined;
  extendedResourceName?: string | undefined;
}

export interface DeviceConfiguration {
  opaque?: OpaqueDeviceConfiguration | undefined;
}

export interface DeviceConstraint {
  requests?: string[] | undefined;
  matchAttribute?: string | undefined;
  distinctAttribute?: string | undefined;
}

export interface DeviceCounterConsumption {
  counterSet: string;
  counters?: Record<string, Counter> | undefined;
}

export interface DeviceRequest {
  name: string;
  exactly?: ExactDeviceRequest | undefined;
  firstAvailable?: DeviceSubRequest[] | undefined;
}

export interface DeviceRequestAllocationResult {
  request: string;
  driver: string;
  pool: string;
  device: string;
  adminAccess?: boolean | undefined;
  tolerations?: DeviceToleration[] | undefined;
  bindingConditions?: string[] | undefined;
  bindingFailureConditions?: string[] | undefined;
  shareID?: string | undefined;
  consumedCapacity?: Record<string, string> | undefined;
}

export interface DeviceSelector {
  cel?: CELDeviceSelector | undefined;
}

export interface DeviceSubRequest {
  name: string;
  deviceClassName: string;
  selectors?: DeviceSelector[] | undefined;
  allocationMode?: string | undefined;
  count?: Int64 | undefined;
  tolerations?: DeviceToleration[] | undefined;
  capacity?: CapacityRequirements | undefined;
}

export interface DeviceTaint {
  key: string;
  value?: string | undefined;
  effect: string;
  timeAdded?: string | undefined;
}

export interface DeviceToleration {
  key?: string | undefined;
  operator?: string | undefined;
  value?: string | undefined;
  effect?: string | undefined;
  tolerationSeconds?: Int64 | undefined;
}

export interface ExactDeviceRequest {
  deviceClassName: string;
  selectors?: DeviceSelector[] | undefined;
  allocationMode?: string | undefined;
  count?: Int64 | undefined;
  adminAccess?: boolean | undefined;
  tolerations?: DeviceToleration[] | undefined;
  capacity?: CapacityRequirements | undefined;
}

export interface NetworkDeviceData {
  interfaceName?: string | undefined;
  ips?: string[] | undefined;
  hardwareAddress?: string | undefined;
}

export interface NodeAllocatableResourceMapping {
  capacityKey?: string | undefined;
  allocationMultiplier?: string | undefined;
}

export interface OpaqueDeviceConfiguration {
  driver: string;
  parameters: unknown;
}

export interface ResourceClaim {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: ResourceClaimSpec;
  status: ResourceClaimStatus;
}

export interface ResourceClaimConsumerReference {
  apiGroup?: string | undefined;
  resource: string;
  name: string;
  uid: string;
}

export interface ResourceClaimSpec {
  devices: DeviceClaim;
}

export interface ResourceClaimStatus {
  allocation?: AllocationResult | undefined;
  reservedFor?: ResourceClaimConsumerReference[] | undefined;
  devices?: AllocatedDeviceStatus[] | undefined;
}

export interface ResourceClaimTemplate {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: ResourceClaimTemplateSpec;
}

export interface ResourceClaimTemplateSpec {
  metadata: ObjectMeta;
  spec: ResourceClaimSpec;
}

export interface ResourcePool {
  name: string;
  generation: Int64;
  resourceSliceCount: Int64;
}

export interface ResourceSlice {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: ResourceSliceSpec;
}

export interface ResourceSliceSpec {
  driver: string;
  pool: ResourcePool;
  nodeName?: string | undefined;
  nodeSelector?: NodeSelector | undefined;
  allNodes?: boolean | undefined;
  devices?: Device[] | undefined;
  perDeviceNodeSelection?: boolean | undefined;
  sharedCounters?: CounterSet[] | undefined;
}

import type {
  Affinity,
  Container,
  ContainerPort,
  ContainerStatus,
  Pod,
  PodSpec,
  PodStatus,
  ResourceList,
  ResourceRequirements,
  Toleration,
  TopologySpreadConstraint,
  Volume,
} from '../../../kube/api/core.ts';
import type { StringMap } from '../../../kube/api/meta.ts';
import { jsonText } from '../../../kube/go/json-text.ts';
import { isRecord, textOf } from '../../../kube/wire.ts';
import { nonNullItems } from '../field-readers.ts';

/**
 * The scheduling requirements of a pod, without its claims and its identity. The replicas of a workload share one shape: it is parsed
 * and stored once for all of them, and so is what rules compile from it (see {@link memoByShape}).
 *
 * Fields are as in the object, not validated.
 */
export interface PodShape {
  /** Shapes with equal keys are equal. */
  readonly key: string;
  readonly spec: ShapeSpec;
}

export interface ShapeSpec {
  readonly nodeSelector?: StringMap | undefined;
  readonly affinity?: Affinity | undefined;
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[] | undefined;
  readonly containers: readonly ShapeContainer[];
  readonly initContainers: readonly ShapeContainer[];
  readonly overhead?: ResourceList | undefined;
  /** Pod-level resources. */
  readonly resources?: ResourceRequirements | undefined;
  readonly hostNetwork?: boolean | undefined;
  readonly hostUsers?: boolean | undefined;
  readonly resourceClaims?: readonly unknown[] | undefined;
  readonly schedulingGroup?: unknown;
  /** Volumes with disks that pods of one node can't share. */
  readonly exclusiveDisks: readonly Volume[];
  /** The references of image volumes. */
  readonly imageVolumes?: readonly string[] | undefined;
  /** The resources that the kubelet granted. They differ from the requests during and after a resize. */
  readonly granted?: GrantedResources | undefined;
}

export interface ShapeContainer {
  readonly name?: string | undefined;
  readonly image?: string | undefined;
  readonly restartPolicy?: string | undefined;
  readonly restartPolicyRules?: Container['restartPolicyRules'] | undefined;
  readonly resources?: ResourceRequirements | undefined;
  /** Ports with a host port. */
  readonly hostPorts?: readonly ContainerPort[] | undefined;
}

/** Allocated and actual resources from the pod's status. */
export interface GrantedResources {
  readonly containers: readonly GrantedContainer[];
  readonly initContainers: readonly GrantedContainer[];
  readonly allocatedResources?: ResourceList | undefined;
  readonly resources?: ResourceRequirements | undefined;
  /** The kubelet has reported that it can never grant the resize. */
  readonly isInfeasible: boolean;
}

export interface GrantedContainer {
  readonly name?: string | undefined;
  readonly allocatedResources?: ResourceList | undefined;
  readonly resources?: ResourceRequirements | undefined;
}

const shapes = new Map<string, PodShape>();

/** The cache is cleared when it is full: sharing saves memory and time, and is never needed for correctness. */
const shapesMax = 20_000;

export function podShapeOf(pod: Pod): PodShape {
  const spec = shapeSpec(pod);
  const key = jsonText(spec);
  const known = shapes.get(key);
  if (known !== undefined) return known;
  if (shapes.size >= shapesMax) shapes.clear();
  // Parsed again as a copy: the shape outlives the object, and must not change with it. JSON.parse rounds 64-bit integers, such as the
  // seconds of a toleration; no rule reads them.
  const shape: PodShape = { key, spec: JSON.parse(key) as ShapeSpec };
  shapes.set(key, shape);
  return shape;
}

/** Caches the result of `make` per shape, for as long as the shape is referenced. */
export function memoByShape<T>(make: (spec: ShapeSpec) => T): (shape: PodShape) => T {
  const results = new WeakMap<PodShape, { readonly value: T }>();
  return (shape) => {
    let known = results.get(shape);
    if (known === undefined) {
      known = { value: make(shape.spec) };
      results.set(shape, known);
    }
    return known.value;
  };
}

function shapeSpec(pod: Pod): ShapeSpec {
  const spec: PodSpec = isRecord(pod.spec) ? pod.spec : {};
  return {
    nodeSelector: spec.nodeSelector,
    affinity: spec.affinity,
    tolerations: spec.tolerations,
    topologySpreadConstraints: spec.topologySpreadConstraints,
    containers: nonNullItems(spec.containers).map(shapeContainer),
    initContainers: nonNullItems(spec.initContainers).map(shapeContainer),
    overhead: spec.overhead,
    resources: spec.resources,
    hostNetwork: spec.hostNetwork,
    hostUsers: spec.hostUsers,
    resourceClaims: spec.resourceClaims,
    schedulingGroup: spec.schedulingGroup,
    exclusiveDisks: nonNullItems(spec.volumes).filter(isExclusiveDisk),
    imageVolumes: imageVolumesOf(spec),
    granted: grantedOf(pod),
  };
}

function shapeContainer(container: Container): ShapeContainer {
  const { name, image, restartPolicy, restartPolicyRules, resources, ports } = container;
  const hostPorts = nonNullItems(ports).filter(
    ({ hostPort }) => typeof hostPort === 'number' && hostPort > 0,
  );
  return {
    name,
    image,
    restartPolicy,
    restartPolicyRules,
    resources,
    ...(hostPorts.length > 0 && { hostPorts }),
  };
}

function isExclusiveDisk({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): boolean {
  return [gcePersistentDisk, awsElasticBlockStore, iscsi, rbd].some(isRecord);
}

function imageVolumesOf({ volumes }: PodSpec): string[] | undefined {
  const references = nonNullItems(volumes).flatMap(({ image }) =>
    isRecord(image) ? textOf(image.reference) : [],
  );
  return references.length > 0 ? references : undefined;
}

/** Undefined while the pod has no node: only a kubelet grants resources. */
function grantedOf({ spec, status }: Pod): GrantedResources | undefined {
  if (!isRecord(status) || (spec?.nodeName ?? '') === '') return undefined;
  const known: PodStatus = status;
  const resize = nonNullItems(known.conditions).find(({ type }) => type === 'PodResizePending');
  return {
    containers: nonNullItems(known.containerStatuses).map(grantedContainer),
    initContainers: nonNullItems(known.initContainerStatuses).map(grantedContainer),
    allocatedResources: known.allocatedResources,
    resources: known.resources,
    isInfeasible: resize?.reason === 'Infeasible',
  };
}

function grantedContainer({ name, allocatedResources, resources }: ContainerStatus): GrantedContainer {
  return { name, allocatedResources, resources };
}

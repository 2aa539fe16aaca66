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
} from '../../kube/api/core.ts';
import type { StringMap } from '../../kube/api/meta.ts';
import { isRecord, textOf } from '../../kube/wire.ts';
import { nonNullItems } from './field-readers.ts';

/**
 * What a pod asks of its node, claims and identity apart. The replicas of one workload have one shape between them: it is read and
 * kept once, however many there are, and what rules compile from it is compiled once (see {@link memoByShape}).
 *
 * Fields are as they stand on the wire, unvalidated.
 */
export interface PodShape {
  /** Equal keys, equal shapes. */
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
  /** Of the pod as a whole. */
  readonly resources?: ResourceRequirements | undefined;
  readonly hostNetwork?: boolean | undefined;
  readonly hostUsers?: boolean | undefined;
  readonly resourceClaims?: readonly unknown[] | undefined;
  readonly schedulingGroup?: unknown;
  /** Disks named in the pod itself that only one node, or one pod, may have. */
  readonly exclusiveDisks: readonly Volume[];
  /** Images that it mounts, by reference. */
  readonly imageVolumes?: readonly string[] | undefined;
  /** What its node has granted, where that may differ from what it asks: a resize is under way, or was. */
  readonly granted?: GrantedResources | undefined;
}

export interface ShapeContainer {
  readonly name?: string | undefined;
  readonly image?: string | undefined;
  readonly restartPolicy?: string | undefined;
  readonly restartPolicyRules?: Container['restartPolicyRules'] | undefined;
  readonly resources?: ResourceRequirements | undefined;
  /** Those that take a port of the node. */
  readonly hostPorts?: readonly ContainerPort[] | undefined;
}

/** From the pod's status. */
export interface GrantedResources {
  readonly containers: readonly GrantedContainer[];
  readonly initContainers: readonly GrantedContainer[];
  readonly allocatedResources?: ResourceList | undefined;
  readonly resources?: ResourceRequirements | undefined;
  /** The node has said that what is asked can't be had there. */
  readonly isInfeasible: boolean;
}

export interface GrantedContainer {
  readonly name?: string | undefined;
  readonly allocatedResources?: ResourceList | undefined;
  readonly resources?: ResourceRequirements | undefined;
}

const shapes = new Map<string, PodShape>();

/** Past this we start over: sharing saves memory and time, it is never needed for correctness. */
const shapesMax = 20_000;

export function podShapeOf(pod: Pod): PodShape {
  const spec = shapeSpec(pod);
  const key = JSON.stringify(spec);
  const known = shapes.get(key);
  if (known !== undefined) return known;
  if (shapes.size >= shapesMax) shapes.clear();
  // Parsed anew: the shape outlives the object it was read from, and must not change with it.
  const shape: PodShape = { key, spec: JSON.parse(key) as ShapeSpec };
  shapes.set(key, shape);
  return shape;
}

/** Remembers what is made of a shape for as long as the shape lives. */
export function memoByShape<T>(make: (spec: ShapeSpec) => T): (shape: PodShape) => T {
  const made = new WeakMap<PodShape, { readonly value: T }>();
  return (shape) => {
    let known = made.get(shape);
    if (known === undefined) {
      known = { value: make(shape.spec) };
      made.set(shape, known);
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

/** Nothing before the pod has a node: only a kubelet grants. */
function grantedOf({ spec, status }: Pod): GrantedResources | undefined {
  if (!isRecord(status) || (spec?.nodeName ?? '') === '') return undefined;
  const known: PodStatus = status;
  const resize = nonNullItems(known.conditions).find(({ type }) => type === 'PodResizePending');
  return {
    containers: nonNullItems(known.containerStatuses).map(grantedTo),
    initContainers: nonNullItems(known.initContainerStatuses).map(grantedTo),
    allocatedResources: known.allocatedResources,
    resources: known.resources,
    isInfeasible: resize?.reason === 'Infeasible',
  };
}

function grantedTo({ name, allocatedResources, resources }: ContainerStatus): GrantedContainer {
  return { name, allocatedResources, resources };
}

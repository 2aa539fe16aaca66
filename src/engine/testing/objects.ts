/**
 * Builders for the objects of a test cluster, as an API server returns them. All objects have a resourceVersion, so that the index
 * treats them like the objects of an informer.
 */
import type {
  Node,
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Volume,
} from '../../kube/api/core.ts';
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
} from '../../kube/api/storage.ts';
import { type Drive, driveNodeKey } from '../../kube/stowage/drive.ts';
import type { DriverCapacity, DriverClassCapacity, StoragePool } from '../../kube/stowage/driver-capacity.ts';
import { annotations } from '../../kube/well-known.ts';

export const hostname = 'kubernetes.io/hostname';
export const zone = 'topology.kubernetes.io/zone';

/** A node with capacity for more pods than any test has. */
export function node(name: string, labels: Record<string, string> = {}): Node {
  return {
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', labels: { [hostname]: name, ...labels } },
    status: { allocatable: { cpu: '1k', memory: '1Ti', pods: '1k' } },
  };
}

/** Selects nodes whose label has one of the values. */
export function labelIn(key: string, ...values: string[]): NodeSelectorTerm {
  return { matchExpressions: [{ key, operator: 'In', values }] };
}

export interface VolumeBuilderOptions {
  readonly className?: string;
  readonly version?: string;
  readonly terms?: readonly NodeSelectorTerm[];
  readonly spec?: PersistentVolume['spec'];
  readonly phase?: string;
  readonly metadata?: PersistentVolume['metadata'];
}

/** Available, of class `local`, and reachable from every node by default. */
export function volume(name: string, size: string, options: VolumeBuilderOptions = {}): PersistentVolume {
  const { className = 'local', version = '1', terms, spec, phase = 'Available', metadata } = options;
  return {
    metadata: { name, uid: `uid-${name}`, resourceVersion: version, ...metadata },
    spec: {
      capacity: { storage: size },
      accessModes: ['ReadWriteOnce'],
      storageClassName: className,
      ...(terms && { nodeAffinity: { required: { nodeSelectorTerms: terms } } }),
      ...spec,
    },
    status: { phase: phase as 'Available' },
  };
}

/** A local disk of one node. */
export function localVolume(
  name: string,
  size: string,
  nodeName: string,
  options: VolumeBuilderOptions = {},
): PersistentVolume {
  return volume(name, size, { terms: [labelIn(hostname, nodeName)], ...options });
}

export interface ClaimBuilderOptions {
  readonly className?: string;
  readonly version?: string;
  readonly spec?: PersistentVolumeClaim['spec'];
  readonly metadata?: PersistentVolumeClaim['metadata'];
  readonly phase?: 'Pending' | 'Bound' | 'Lost';
  readonly selectedNode?: string;
}

/** Unbound, in namespace `default`, of class `local` by default. */
export function claim(name: string, size: string, options: ClaimBuilderOptions = {}): PersistentVolumeClaim {
  const { className = 'local', version = '1', spec, metadata, phase = 'Pending', selectedNode } = options;
  return {
    metadata: {
      namespace: 'default',
      name,
      uid: `uid-${name}`,
      resourceVersion: version,
      ...(selectedNode !== undefined && { annotations: { [annotations.selectedNode]: selectedNode } }),
      ...metadata,
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: className,
      resources: { requests: { storage: size } },
      ...spec,
    },
    status: { phase },
  };
}

/** Bound to the volume, on the claim's side. */
export function boundClaim(
  name: string,
  size: string,
  volumeName: string,
  options: ClaimBuilderOptions = {},
): PersistentVolumeClaim {
  return claim(name, size, {
    ...options,
    spec: { ...options.spec, volumeName },
    metadata: { annotations: { [annotations.bindCompleted]: 'yes' }, ...options.metadata },
    phase: 'Bound',
  });
}

/** The default has no provisioner, and WaitForFirstConsumer. */
export function storageClass(name: string, rest: Partial<StorageClass> = {}): StorageClass {
  return {
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...rest,
  };
}

export function csiDriver(name: string, spec: CSIDriver['spec'] = { storageCapacity: true }): CSIDriver {
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: '1' }, spec: spec ?? {} };
}

/** The attach limits by driver; undefined for no limit. */
export function csiNode(
  name: string,
  limits: Record<string, number | undefined>,
  metadata: CSINode['metadata'] = {},
): CSINode {
  return {
    metadata: { name, uid: `uid-csinode-${name}`, resourceVersion: '1', ...metadata },
    spec: {
      drivers: Object.entries(limits).map(([driver, count]) => ({
        name: driver,
        nodeID: name,
        ...(count !== undefined && { allocatable: { count } }),
      })),
    },
  };
}

export function storageCapacity(
  name: string,
  className: string,
  rest: Partial<CSIStorageCapacity> & { readonly version?: string } = {},
): CSIStorageCapacity {
  const { version = '1', ...fields } = rest;
  return {
    metadata: { namespace: 'storage', name, uid: `uid-${name}`, resourceVersion: version },
    storageClassName: className,
    nodeTopology: {},
    ...fields,
  };
}

export function driverCapacity(
  driver: string,
  storage: readonly DriverClassCapacity[],
  version = '1',
): DriverCapacity {
  return {
    metadata: { name: driver, uid: `uid-${driver}`, resourceVersion: version },
    spec: { capacityTracking: true },
    status: { storage },
  };
}

export function attachment(
  name: string,
  nodeName: string,
  driver: string,
  volumeName: string,
): VolumeAttachment {
  return {
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1' },
    spec: { attacher: driver, nodeName, source: { persistentVolumeName: volumeName } },
  };
}

/** A pod in namespace `default` with one volume per claim. */
export function pod(
  name: string,
  claims: readonly string[],
  rest: { readonly volumes?: readonly Volume[]; readonly nodeName?: string; readonly version?: string } = {},
): Pod {
  const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: rest.version ?? '1' },
    spec: {
      volumes: [...volumes, ...(rest.volumes ?? [])],
      ...(rest.nodeName !== undefined && { nodeName: rest.nodeName }),
    },
  };
}

// ── Variations ──

/** The same object with another resourceVersion. */
export function atVersion<T extends { readonly metadata?: { readonly name?: string } }>(
  version: string,
  object: T,
): T {
  return { ...object, metadata: { ...object.metadata, resourceVersion: version } };
}

/** The spec of a volume whose claimRef names a claim in namespace `default`; without a uid, any claim of that name. */
export function claimRefTo(claimName: string, uid?: string): PersistentVolume['spec'] {
  return { claimRef: { namespace: 'default', name: claimName, ...(uid !== undefined && { uid }) } };
}

/** A generic ephemeral volume: its claim is called `<pod>-<volume>`. */
export function ephemeralVolume(name: string): Volume {
  return { name, ephemeral: { volumeClaimTemplate: {} } };
}

/** The metadata of a claim that was created for an ephemeral volume of the pod. */
export function ownedBy(podName: string, claimName: string): PersistentVolumeClaim['metadata'] {
  return {
    namespace: 'default',
    name: claimName,
    uid: `uid-${claimName}`,
    resourceVersion: '1',
    ownerReferences: [{ kind: 'Pod', name: podName, uid: `uid-${podName}`, controller: true }],
  };
}

/** An inline CSI volume, with the lifetime of the pod. */
export function inlineVolume(name: string, driver: string, fsSize?: string): Volume {
  return { name, csi: { driver, ...(fsSize !== undefined && { fsSize }) } };
}

/** Reachable from every node by default. */
export function pool(name: string, size: string, rest: Partial<StoragePool> = {}): StoragePool {
  return { name, capacity: size, ...rest };
}

/** A class whose volumes a CSI driver provisions. */
export function csiClass(driver: string, name: string, rest: Partial<StorageClass> = {}): StorageClass {
  return storageClass(name, { provisioner: driver, ...rest });
}

export function gib(count: number): number {
  return count * 2 ** 30;
}

/** For `test.each` with the title `%s`: vitest would quote `$name` and truncate it after forty characters. */
export function byName<T extends { readonly name: string }>(cases: readonly T[]): [string, T][] {
  return cases.map((entry) => [entry.name, entry]);
}

export interface DriveBuilderOptions {
  readonly node?: string;
  readonly version?: string;
  readonly labels?: Record<string, string>;
  readonly spec?: Drive['spec'];
  readonly state?: string;
}

/** A drive that is ready, in node n1 by default, with a capacity in GiB. */
export function drive(name: string, sizeGib: number, options: DriveBuilderOptions = {}): Drive {
  const { node: nodeName = 'n1', version = '1', labels = {}, spec, state = 'Ready' } = options;
  return {
    metadata: { name, uid: `uid-${name}`, resourceVersion: version, labels },
    spec: { nodeName, ...spec },
    status: { capacityBytes: gib(sizeGib), state },
  };
}

/** A node with the label that drives are reached by. */
export function driveNode(name: string): Node {
  return node(name, { [driveNodeKey]: name });
}

import type { CSIVolumeSource, Pod, Volume } from '../../kube/api/core.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { inlineVolumeSize } from '../../kube/inline-volumes.ts';
import { migrateInlineVolume } from '../../kube/legacy/in-tree-migration.ts';
import { isFinished } from '../../kube/pods.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { ephemeralClaimName } from '../../kube/volumes.ts';
import { textOf } from '../../kube/wire.ts';
import { readInlineDriveKind } from '../drives/class-parameters.ts';
import type { DriveKind } from '../drives/drive-requirements.ts';
import type { Size } from '../size.ts';
import { nonNullItems, readSize, sizeOfQuantity, stringMapOf } from './field-readers.ts';
import { type Identity, namespacedIdentity } from './identity.ts';
import { haveSameLabels } from './labels.ts';
import { type PodShape, podShapeOf } from './pod-shape/pod-shape.ts';

/** The fields of a Pod that the engine uses. */
export interface PodRecord extends Identity {
  readonly namespace: string;
  readonly name: string;
  /** Empty until it is assigned. */
  readonly nodeName: string;
  /** Succeeded and Failed pods use no resources. */
  readonly isFinished: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Pods with higher priority are scheduled first, and may preempt pods with lower priority. */
  readonly priority: number;
  readonly preemptsOthers: boolean;
  /** The node for which the pod preempted others, a hint; empty if there is none. */
  readonly nominatedNode: string;
  /** A scheduler has chosen the pod as a victim of preemption. */
  readonly isPreempted: boolean;
  /** The controller of the pod, as `KIND/NAME`; empty if there is none. */
  readonly owner: string;
  /** When the kubelet accepted the pod, for the order of eviction; undefined before that. */
  readonly startTime: string | undefined;
  /** The parts of the spec that rules other than the volume rules read. Pods with equal requirements share it. */
  readonly shape: PodShape;
  readonly claims: readonly PodClaim[];
  readonly inlineVolumes: readonly InlineVolume[];
  /** The inline volumes existed at this time at the latest; undefined if the pod does not show that yet. */
  readonly volumesExistAtMs: number | undefined;
  readonly migratedVolumes: readonly MigratedInline[];
  readonly problems: readonly string[];
}

/** A claim that a pod uses. A claim that several volumes name is listed once. */
export interface PodClaim {
  readonly key: string;
  readonly name: string;
  /** The claim of a generic ephemeral volume: it is created for this pod and must be owned by it. */
  readonly isEphemeral: boolean;
}

/** An inline CSI volume, with the lifetime of the pod. */
export interface InlineVolume {
  readonly volumeName: string;
  readonly driver: string;
  readonly size: Size | undefined;
  /** The drives that a volume of `drives.stowage.dev` selects; undefined for other drivers, and if its attributes are invalid. */
  readonly drive?: DriveKind | undefined;
}

/** An in-tree disk that the pod spec names directly. A CSI driver attaches it on nodes whose CSINode lists the plugin as migrated. */
export interface MigratedInline {
  readonly plugin: string;
  readonly driver: string;
  readonly handle: string;
}

export function readPod(object: Pod): PodRecord {
  // The caller of a plan may pass any JSON value.
  const pod: Pod = typeof object === 'object' && object !== null ? object : {};
  const volumes = nonNullItems(pod.spec?.volumes);
  const problems: string[] = [];
  const { key, uid, version, isDeleting } = namespacedIdentity(pod);
  return {
    key,
    uid,
    version,
    isDeleting,
    namespace: textOf(pod.metadata?.namespace),
    name: textOf(pod.metadata?.name),
    nodeName: textOf(pod.spec?.nodeName),
    isFinished: isFinished(pod),
    labels: stringMapOf(pod.metadata?.labels),
    priority: typeof pod.spec?.priority === 'number' ? pod.spec.priority : 0,
    preemptsOthers: pod.spec?.preemptionPolicy !== 'Never',
    nominatedNode: textOf(pod.status?.nominatedNodeName),
    isPreempted: readIsPreempted(pod),
    owner: readOwner(pod),
    startTime: pod.status?.startTime,
    shape: podShapeOf(pod),
    claims: readPodClaims(pod, volumes),
    inlineVolumes: volumes.flatMap((volume) => readInlineVolume(volume, problems)),
    volumesExistAtMs: volumes.some(({ csi }) => csi !== undefined && csi !== null)
      ? readVolumesExistence(pod)
      : undefined,
    migratedVolumes: volumes.flatMap(readMigratedInline),
    problems,
  };
}

/**
 * Whether the pod's requirements or labels differ from what they were. A status update alone does not make the scheduler plan the pod again.
 */
export function hasSchedulingChange(pod: PodRecord, now: PodRecord | undefined): boolean {
  return now !== undefined && (now.shape.key !== pod.shape.key || !haveSameLabels(now, pod));
}

/**
 * The kubelet mounts all volumes before it creates the pod's sandbox, and starts containers after that. So the first of these times proves
 * that the driver has created the inline volumes. The times have whole seconds, cut off, hence the next second.
 */
function readVolumesExistence({ status }: Pod): number | undefined {
  const started = nonNullItems(status?.initContainerStatuses)
    .concat(nonNullItems(status?.containerStatuses))
    .flatMap(({ state, lastState }) => [state, lastState])
    .flatMap((state) => [state?.running?.startedAt, state?.terminated?.startedAt]);
  const sandbox = nonNullItems(status?.conditions).find(
    ({ type, status: value }) => type === 'PodReadyToStartContainers' && value === 'True',
  );
  const times = [sandbox?.lastTransitionTime, ...started].flatMap((text) => parseTimestamp(text) ?? []);
  return times.length === 0 ? undefined : Math.min(...times) + 1000;
}

function readOwner(pod: Pod): string {
  const controller = nonNullItems(pod.metadata?.ownerReferences).find((owner) => owner.controller === true);
  return controller === undefined ? '' : `${textOf(controller.kind)}/${textOf(controller.name)}`;
}

function readIsPreempted({ status }: Pod): boolean {
  const condition = nonNullItems(status?.conditions).find(({ type }) => type === 'DisruptionTarget');
  return condition?.status === 'True' && condition.reason === 'PreemptionByScheduler';
}

const noClaims: readonly PodClaim[] = [];

function readPodClaims(pod: Pod, volumes: readonly Volume[]): readonly PodClaim[] {
  const namespace = textOf(pod.metadata?.namespace);
  const byName = new Map<string, PodClaim>();
  for (const volume of volumes) {
    const isEphemeral = volume.ephemeral !== undefined && volume.ephemeral !== null;
    if (!isEphemeral && (volume.persistentVolumeClaim === undefined || volume.persistentVolumeClaim === null))
      continue;
    const name = isEphemeral
      ? ephemeralClaimName(textOf(pod.metadata?.name), textOf(volume.name))
      : textOf(volume.persistentVolumeClaim?.claimName);
    const known = byName.get(name);
    if (known === undefined || (isEphemeral && !known.isEphemeral)) {
      byName.set(name, { key: `${namespace}/${name}`, name, isEphemeral });
    }
  }
  return byName.size === 0 ? noClaims : [...byName.values()];
}

function readInlineVolume(volume: Volume, problems: string[]): InlineVolume[] {
  const csi = volume.csi;
  if (csi === undefined || csi === null) return [];
  const volumeName = textOf(volume.name);
  const field = `spec.volumes[${volumeName}].csi`;
  const stated = inlineVolumeSize(csi, field);
  problems.push(...stated.problems);
  const size = stated.quantity && sizeOfQuantity(stated.quantity);
  const driver = textOf(csi.driver);
  if (driver !== drivesDriver) return [{ volumeName, driver, size }];
  return [{ volumeName, driver, ...readInlineOnDrive(csi, { size, field }, problems) }];
}

/** Refuses the volumes that the node service would refuse, because the pod could not start anywhere. It accepts the attribute `size` too. */
function readInlineOnDrive(
  { volumeAttributes }: CSIVolumeSource,
  { size: stated, field }: { readonly size: Size | undefined; readonly field: string },
  problems: string[],
): Pick<InlineVolume, 'size' | 'drive'> {
  const { size: text, ...attributes } = stringMapOf(volumeAttributes);
  const own = stated === undefined ? readSize(text, `${field}.volumeAttributes[size]`) : undefined;
  const size = own?.kind === 'size' ? own.size : stated;
  if (own?.kind === 'invalid') problems.push(own.problem);
  else if (size === undefined || size.bytes < 1)
    problems.push(`${field}: a volume on a drive needs a size, such as fsSize: 10Gi`);
  const read = readInlineDriveKind(attributes);
  if (!read.ok) problems.push(`${field}.volumeAttributes: ${read.problem}`);
  return { size, drive: read.ok ? read.value : undefined };
}

/** A disk that can't be migrated is not counted. kube-scheduler fails the pod instead, but the pod need not stay pending for that. */
function readMigratedInline(volume: Volume): MigratedInline[] {
  const result = migrateInlineVolume(volume);
  if (result === undefined || !result.ok) return [];
  const { plugin, driver, volumeHandle } = result.source;
  return [{ plugin, driver, handle: volumeHandle }];
}

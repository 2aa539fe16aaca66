import type { Pod, Volume } from '../../kube/api/core.ts';
import { migrateInlineVolume } from '../../kube/legacy/in-tree-migration.ts';
import { isFinished } from '../../kube/pods.ts';
import { ephemeralClaimName } from '../../kube/volumes.ts';
import { textOf } from '../../kube/wire.ts';
import type { Size } from '../size.ts';
import { nonNullItems, readSize, stringMapOf } from './field-readers.ts';
import { type Identity, namespacedIdentity } from './identity.ts';
import { haveSameLabels } from './labels.ts';
import { type PodShape, podShapeOf } from './pod-shape.ts';

/** What the engine keeps of a Pod. */
export interface PodRecord extends Identity {
  readonly namespace: string;
  readonly name: string;
  /** Empty until it is assigned. */
  readonly nodeName: string;
  /** Succeeded and Failed pods hold nothing. */
  readonly isFinished: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Higher goes first, and may take the place of lower. */
  readonly priority: number;
  readonly preemptsOthers: boolean;
  /** Where it is to go once those in its way have gone; a hint. Empty if there is none. */
  readonly nominatedNode: string;
  /** A scheduler has chosen it to make room for another pod. */
  readonly isPreempted: boolean;
  /** The controller that owns it, as `KIND/NAME`; empty if there is none. */
  readonly owner: string;
  /** When its containers started, for whom to evict first; undefined while they haven't. */
  readonly startTime: string | undefined;
  /** All that rules about anything but claims read of its spec; shared with pods that ask for the same. */
  readonly shape: PodShape;
  readonly claims: readonly PodClaim[];
  readonly inlineVolumes: readonly InlineVolume[];
  readonly migratedVolumes: readonly MigratedInline[];
  readonly problems: readonly string[];
}

/** A claim that a pod uses, once however often its volumes name it. */
export interface PodClaim {
  readonly key: string;
  readonly name: string;
  /** A generic ephemeral volume: the claim is made for, and must belong to, this pod. */
  readonly isEphemeral: boolean;
}

/** A CSI volume that lives and dies with the pod. */
export interface InlineVolume {
  readonly volumeName: string;
  readonly driver: string;
  readonly size: Size | undefined;
}

/** An in-tree disk named in the pod itself; where the node's CSINode says so, a CSI driver attaches it. */
export interface MigratedInline {
  readonly plugin: string;
  readonly driver: string;
  readonly handle: string;
}

/** What the kubelet calls an inline volume's size in the attributes it hands to the driver. */
const sizeAttribute = 'csi.storage.k8s.io/size';

export function readPod(object: Pod): PodRecord {
  // Whoever asks for a plan may hand us anything that JSON can say.
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
    migratedVolumes: volumes.flatMap(readMigratedInline),
    problems,
  };
}

/**
 * Whether the pod's requirements or labels differ from what they were. Status updates alone are no reason to plan the pod again.
 */
export function hasSchedulingChange(pod: PodRecord, now: PodRecord | undefined): boolean {
  return now !== undefined && (now.shape.key !== pod.shape.key || !haveSameLabels(now, pod));
}

function readOwner(pod: Pod): string {
  const controller = nonNullItems(pod.metadata?.ownerReferences).find((owner) => owner.controller === true);
  return controller === undefined ? '' : `${textOf(controller.kind)}/${textOf(controller.name)}`;
}

function readIsPreempted({ status }: Pod): boolean {
  const mark = nonNullItems(status?.conditions).find(({ type }) => type === 'DisruptionTarget');
  return mark?.status === 'True' && mark.reason === 'PreemptionByScheduler';
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
  const field = `spec.volumes[${volumeName}].csi.fsSize`;
  const size = readSize(csi.fsSize ?? (csi.volumeAttributes?.[sizeAttribute] || undefined), field);
  if (size.kind === 'bad') problems.push(size.problem);
  return [{ volumeName, driver: textOf(csi.driver), size: size.kind === 'size' ? size.size : undefined }];
}

/** A disk that can't be translated is counted by nobody. kube-scheduler gives the pod up; that is no reason to leave it waiting. */
function readMigratedInline(volume: Volume): MigratedInline[] {
  const result = migrateInlineVolume(volume);
  if (result === undefined || !result.ok) return [];
  const { plugin, driver, volumeHandle } = result.source;
  return [{ plugin, driver, handle: volumeHandle }];
}

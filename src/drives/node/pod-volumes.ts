import { createHash } from 'node:crypto';
import type { Cluster } from '../../cluster/cluster.ts';
import type { OtherVolume } from '../../engine/drives/choose-with-others.ts';
import type { CSIVolumeSource, Pod, Volume } from '../../kube/api/core.ts';
import { inlineSizeAttribute } from '../../kube/inline-volumes.ts';
import { pods } from '../../kube/resources.ts';
import { type DriveUser, drivesDriver } from '../../kube/stowage/drive.ts';
import { listOf } from '../../kube/wire.ts';
import { readInlineVolume } from './node-requests.ts';

/** An inline volume on drives of the pod whose volumes are being published. */
export interface PodVolume extends OtherVolume {
  /** The id that the kubelet makes for it. */
  readonly handle: string;
}

/**
 * The other inline volumes on drives of a pod. Empty if the pod does not have this volume: then another client than a kubelet calls, or the
 * pod is not the one that the API server has. Rejects if the pod cannot be read.
 */
export async function otherVolumesOf(
  cluster: Cluster,
  volume: string,
  user: DriveUser,
): Promise<readonly PodVolume[]> {
  if (user.uid === undefined) return [];
  const { namespace, name } = user;
  const pod = await cluster.resource(pods).get({ namespace, name });
  if (pod.metadata?.uid !== user.uid) return [];
  const all = listOf(pod.spec?.volumes).flatMap((one) => inlineOnDrives(pod, one, user));
  return all.some(({ handle }) => handle === volume) ? all.filter(({ handle }) => handle !== volume) : [];
}

/** A volume that cannot be read is refused when the kubelet publishes it. */
function inlineOnDrives(pod: Pod, { name = '', csi }: Volume, user: DriveUser): readonly PodVolume[] {
  if (csi?.driver !== drivesDriver) return [];
  const handle = handleOf(pod.metadata?.uid ?? '', name);
  try {
    const read = readInlineVolume(contextOf(csi, user));
    if (read === undefined) return [];
    const { tier, labels } = read.driveClass;
    return [{ handle, bytes: read.sizeBytes, tier, labels }];
  } catch {
    return [];
  }
}

/** As the kubelet describes it to the driver. */
function contextOf({ volumeAttributes, fsSize }: CSIVolumeSource, { namespace, name }: DriveUser) {
  return {
    ...volumeAttributes,
    ...(fsSize !== undefined && { [inlineSizeAttribute]: String(fsSize) }),
    'csi.storage.k8s.io/ephemeral': 'true',
    'csi.storage.k8s.io/pod.namespace': namespace,
    'csi.storage.k8s.io/pod.name': name,
  };
}

/** As the kubelet makes it. */
function handleOf(podUid: string, volumeName: string): string {
  return `csi-${createHash('sha256').update(`${podUid}${volumeName}`).digest('hex')}`;
}

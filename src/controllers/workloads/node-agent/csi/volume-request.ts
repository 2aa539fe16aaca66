import { createHash } from 'node:crypto';
import type { CSIVolumeSource, PersistentVolume, Pod, Volume } from '../../../../kube/api/core.ts';
import { keyOf } from '../../../../kube/object-key.ts';
import { ephemeralClaimName, volumeModeOf } from '../../../../kube/volumes.ts';
import type { AgentCaches } from '../caches/agent-caches.ts';
import { isAttachable } from '../mounts/attachments.ts';

/** A volume of a CSI driver that a pod needs on its node. */
export interface VolumeRequest {
  readonly pod: Pod;
  readonly driver: string;
  readonly volumeHandle: string;
  /** The PersistentVolume's name; for an inline volume, its name in the pod. */
  readonly specName: string;
  readonly isBlock: boolean;
  readonly isReadOnly: boolean;
  readonly isAttachable: boolean;
  readonly source: VolumeRequestSource;
}

export type VolumeRequestSource =
  | { readonly kind: 'persistent'; readonly volume: PersistentVolume; readonly claimKey: string }
  | { readonly kind: 'inline'; readonly csi: CSIVolumeSource };

/** The volumes of CSI drivers in the pod, each once. Claims that are not bound are left out. */
export function volumeRequestsOf(pod: Pod, caches: AgentCaches): readonly VolumeRequest[] {
  const requests = new Map<string, VolumeRequest>();
  for (const volume of pod.spec?.volumes ?? []) {
    const request =
      volume.csi === undefined ? persistent(pod, volume, caches) : inline(pod, volume, volume.csi);
    const id = `${request?.driver}^${request?.volumeHandle}`;
    if (request !== undefined && !requests.has(id)) requests.set(id, request);
  }
  return [...requests.values()];
}

/** The pod's identity in a record. */
export function podOf({ pod }: VolumeRequest): { uid: string; namespace: string; name: string; key: string } {
  const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
  return { uid, namespace, name, key: keyOf(pod) };
}

function persistent(pod: Pod, source: Volume, caches: AgentCaches): VolumeRequest | undefined {
  const claimName =
    source.persistentVolumeClaim?.claimName ??
    (source.ephemeral && ephemeralClaimName(pod.metadata?.name ?? '', source.name ?? ''));
  if (claimName === undefined) return undefined;
  const claimKey = `${pod.metadata?.namespace}/${claimName}`;
  const volume = caches.volumes.get(caches.claims.get(claimKey)?.spec?.volumeName ?? '');
  const csi = volume?.spec?.csi;
  if (volume === undefined || csi === undefined) return undefined;
  const { driver = '', volumeHandle = '' } = csi;
  return {
    pod,
    driver,
    volumeHandle,
    specName: volume.metadata?.name ?? '',
    isBlock: volumeModeOf(volume) === 'Block',
    isReadOnly: source.persistentVolumeClaim?.readOnly === true,
    isAttachable: isAttachable(volume, caches.drivers.get(driver)),
    source: { kind: 'persistent', volume, claimKey },
  };
}

function inline(pod: Pod, { name = '' }: Volume, csi: CSIVolumeSource): VolumeRequest {
  return {
    pod,
    driver: csi.driver ?? '',
    volumeHandle: inlineVolumeHandle(pod.metadata?.uid ?? '', name),
    specName: name,
    isBlock: false,
    isReadOnly: csi.readOnly === true,
    isAttachable: false,
    source: { kind: 'inline', csi },
  };
}

/** The id that a kubelet makes for an inline volume. */
export function inlineVolumeHandle(podUid: string, volumeName: string): string {
  return `csi-${createHash('sha256').update(`${podUid}${volumeName}`).digest('hex')}`;
}

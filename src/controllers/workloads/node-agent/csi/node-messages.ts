import type { CsiRequestInit } from '../../../../csi/csi-methods.ts';
import type { VolumeCapability_AccessMode_Mode as AccessMode } from '../../../../csi/generated/csi.ts';
import { accountTokensKey } from '../../../../csi/message-text.ts';
import type { ServedCsiDriver } from '../../../../csi/served-driver.ts';
import { csiAccessMode, type VolumeCapabilityInit } from '../../../../csi/volume-capability.ts';
import type { CSIDriver } from '../../../../kube/api/storage.ts';
import { inlineSizeAttribute, inlineVolumeSize } from '../../../../kube/inline-volumes.ts';
import { formatQuantity } from '../../../../kube/quantities/quantity.ts';
import type { VolumeRequest } from './volume-request.ts';

type Texts = Readonly<Record<string, string>>;

/** Further facts that a call needs besides the request. */
export interface CallFacts {
  readonly plugin: ServedCsiDriver;
  readonly csiDriver: CSIDriver | undefined;
  /** From the attachment; empty if the volume has none. */
  readonly publishContext: Texts;
  readonly secrets: Texts;
  /** Tokens of the pod's service account, for NodePublishVolume. */
  readonly tokens?: string | undefined;
  /** Empty if the plugin does not stage. */
  readonly stagingPath: string;
}

export function stageMessage(
  request: VolumeRequest,
  { plugin, publishContext, secrets, stagingPath, csiDriver }: CallFacts,
): CsiRequestInit<'NodeStageVolume'> {
  return {
    volumeId: request.volumeHandle,
    publishContext,
    stagingTargetPath: stagingPath,
    volumeCapability: capabilityOf(request, plugin, csiDriver),
    secrets,
    volumeContext: attributesOf(request),
  };
}

export function publishMessage(
  request: VolumeRequest,
  targetPath: string,
  { plugin, publishContext, secrets, stagingPath, csiDriver, tokens }: CallFacts,
): CsiRequestInit<'NodePublishVolume'> {
  const tokenInfo = tokens === undefined ? {} : { [accountTokensKey]: tokens };
  const isTokenSecret = csiDriver?.spec?.serviceAccountTokenInSecrets === true;
  const hasPodInfo = csiDriver?.spec?.podInfoOnMount === true;
  const size = hasPodInfo ? sizeInfo(request) : {};
  return {
    volumeId: request.volumeHandle,
    publishContext: { ...publishContext, ...size },
    stagingTargetPath: stagingPath,
    targetPath,
    volumeCapability: capabilityOf(request, plugin, csiDriver),
    readonly: request.isReadOnly,
    secrets: { ...secrets, ...(isTokenSecret ? tokenInfo : {}) },
    volumeContext: {
      ...attributesOf(request),
      ...(hasPodInfo ? podInfo(request) : {}),
      ...size,
      ...(isTokenSecret ? {} : tokenInfo),
    },
  };
}

export function expandMessage(
  request: VolumeRequest,
  sizeBytes: bigint,
  volumePath: string,
  { plugin, secrets, stagingPath, csiDriver }: CallFacts,
): CsiRequestInit<'NodeExpandVolume'> {
  return {
    volumeId: request.volumeHandle,
    volumePath,
    stagingTargetPath: stagingPath,
    capacityRange: { requiredBytes: sizeBytes },
    volumeCapability: capabilityOf(request, plugin, csiDriver),
    secrets,
  };
}

function attributesOf({ source }: VolumeRequest): Texts {
  const csi = source.kind === 'inline' ? source.csi : source.volume.spec?.csi;
  return csi?.volumeAttributes ?? {};
}

function podInfo({ pod, source }: VolumeRequest): Texts {
  const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
  return {
    'csi.storage.k8s.io/pod.name': name,
    'csi.storage.k8s.io/pod.namespace': namespace,
    'csi.storage.k8s.io/pod.uid': uid,
    'csi.storage.k8s.io/serviceAccount.name': pod.spec?.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(source.kind === 'inline'),
  };
}

/** The size of an inline volume; empty if it has none, which is not the same as zero. */
function sizeInfo({ source }: VolumeRequest): Texts {
  if (source.kind !== 'inline') return {};
  const { quantity } = inlineVolumeSize(source.csi, 'csi');
  return { [inlineSizeAttribute]: quantity === undefined ? '' : formatQuantity(quantity) };
}

function capabilityOf(
  request: VolumeRequest,
  plugin: ServedCsiDriver,
  csiDriver: CSIDriver | undefined,
): VolumeCapabilityInit {
  const accessMode = { mode: accessModeOf(request, plugin) };
  if (request.isBlock) return { accessMode, accessType: { case: 'block', value: {} } };
  const { source } = request;
  const fsType = (source.kind === 'inline' ? source.csi.fsType : source.volume.spec?.csi?.fsType) ?? '';
  const mountFlags = source.kind === 'inline' ? [] : [...(source.volume.spec?.mountOptions ?? [])];
  const volumeMountGroup = mountGroupOf(request, fsType, plugin, csiDriver);
  return { accessMode, accessType: { case: 'mount', value: { fsType, mountFlags, volumeMountGroup } } };
}

/** The first mode counts, as for a kubelet. */
function accessModeOf({ source }: VolumeRequest, plugin: ServedCsiDriver): AccessMode {
  const [mode = 'ReadWriteOnce'] = source.kind === 'inline' ? [] : (source.volume.spec?.accessModes ?? []);
  return csiAccessMode([mode], plugin.hasNodeCapability('SINGLE_NODE_MULTI_WRITER'));
}

/** The pod's fsGroup, where the plugin applies it itself. */
function mountGroupOf(
  request: VolumeRequest,
  fsType: string,
  plugin: ServedCsiDriver,
  csiDriver: CSIDriver | undefined,
): string {
  const { pod, isReadOnly, source } = request;
  const fsGroup = pod.spec?.securityContext?.fsGroup;
  const policy = csiDriver?.spec?.fsGroupPolicy ?? 'ReadWriteOnceWithFSType';
  if (fsGroup === undefined || isReadOnly || policy === 'None') return '';
  if (!plugin.hasNodeCapability('VOLUME_MOUNT_GROUP')) return '';
  const accessModes = source.kind === 'inline' ? [] : (source.volume.spec?.accessModes ?? []);
  const isSingle = accessModes.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');
  return policy === 'File' || (fsType !== '' && isSingle) ? String(fsGroup) : '';
}

import type { KubeObject } from '../../../kube/api/meta.ts';
import { bytesOf } from '../../../kube/quantities/bytes.ts';
import type { Resource } from '../../../kube/resource.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { lookUp, textOf } from '../../../kube/wire.ts';
import { type RefusedOutcome, refusedOutcome } from '../provisioner.ts';
import type { ContentQuestion, ContentSource } from './content-question.ts';

export const snapshotGroup = 'snapshot.storage.k8s.io';
/** On a VolumeSnapshotContent: an administrator allows volumes of another mode from it. */
const allowModeChange = 'snapshot.storage.kubernetes.io/allow-volume-mode-change';

/** The fields that we read; the kind is defined by the snapshot controller's CustomResourceDefinition. */
interface VolumeSnapshot extends KubeObject {
  readonly status?: {
    readonly boundVolumeSnapshotContentName?: string;
    readonly readyToUse?: boolean;
    readonly restoreSize?: string;
  };
}

interface VolumeSnapshotContent extends KubeObject {
  readonly spec?: {
    readonly driver?: string;
    readonly sourceVolumeMode?: string;
    readonly volumeSnapshotRef?: { readonly uid?: string };
  };
  readonly status?: { readonly snapshotHandle?: string; readonly restoreSize?: number };
}

const snapshots = { group: snapshotGroup, version: 'v1', kind: 'VolumeSnapshot', isOptional: true };
const volumeSnapshots: Resource<VolumeSnapshot> = {
  ...snapshots,
  plural: 'volumesnapshots',
  namespaced: true,
};
const volumeSnapshotContents: Resource<VolumeSnapshotContent> = {
  ...snapshots,
  kind: 'VolumeSnapshotContent',
  plural: 'volumesnapshotcontents',
  namespaced: false,
};

/** The driver's snapshot behind a VolumeSnapshot of the claim's namespace. */
export async function snapshotSource(
  { cluster, driver, claim, requestedBytes }: ContentQuestion,
  name: string,
  signal: AbortSignal,
): Promise<ContentSource | RefusedOutcome> {
  if (!driver.hasControllerCapability('CREATE_DELETE_SNAPSHOT'))
    return refusedOutcome(`CSI driver ${driver.name} has no snapshots; remove spec.dataSource`, 'change');
  const namespace = claim.metadata?.namespace;
  const which = `VolumeSnapshot "${namespace}/${name}"`;
  const snapshot = await undefinedIfNotFound(
    cluster.resource(volumeSnapshots).get({ namespace, name }, { signal }),
  );
  if (snapshot === undefined)
    return refusedOutcome(`${which} does not exist, or the cluster does not serve VolumeSnapshots`, 'retry');
  if (snapshot.metadata?.deletionTimestamp !== undefined)
    return refusedOutcome(`${which} is being deleted`, 'retry');
  const { boundVolumeSnapshotContentName = '', readyToUse, restoreSize } = snapshot.status ?? {};
  if (boundVolumeSnapshotContentName === '' || readyToUse !== true)
    return refusedOutcome(`${which} is not ready to use`, 'retry');
  const contents = cluster.resource(volumeSnapshotContents);
  const content = await undefinedIfNotFound(
    contents.get({ name: boundVolumeSnapshotContentName }, { signal }),
  );
  if (content === undefined || content.spec?.volumeSnapshotRef?.uid !== snapshot.metadata?.uid)
    return refusedOutcome(`${which} is not bound to its VolumeSnapshotContent on both sides`, 'retry');
  return checkedContent(content, { which, driverName: driver.name, restoreSize, requestedBytes, claim });
}

interface ContentCheck extends Pick<ContentQuestion, 'requestedBytes' | 'claim'> {
  readonly which: string;
  readonly driverName: string;
  readonly restoreSize: string | undefined;
}

function checkedContent(
  { spec, status, metadata }: VolumeSnapshotContent,
  { which, driverName, restoreSize, requestedBytes, claim }: ContentCheck,
): ContentSource | RefusedOutcome {
  if (spec?.driver !== driverName)
    return refusedOutcome(`${which} is of CSI driver ${spec?.driver}, not of ${driverName}`, 'change');
  if (requestedBytes < bytesOf(restoreSize))
    return refusedOutcome(`a volume from ${which} needs at least ${restoreSize}; request as much`, 'change');
  const mode = textOf(spec.sourceVolumeMode);
  const isConversionAllowed = lookUp(metadata?.annotations, allowModeChange) === 'true';
  if (mode !== '' && mode !== volumeModeOf(claim) && !isConversionAllowed)
    return refusedOutcome(
      `${which} has volumeMode ${mode}; annotate VolumeSnapshotContent ${metadata?.name} with ${allowModeChange}=true to change it`,
      'change',
    );
  const snapshotId = textOf(status?.snapshotHandle);
  return snapshotId === ''
    ? refusedOutcome(`${which} has no handle yet`, 'retry')
    : { kind: 'snapshot', snapshotId };
}

import { bytesOf } from '../../../kube/quantities/bytes.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { lookUp, textOf } from '../../../kube/wire.ts';
import { type RefusedOutcome, refusedOutcome } from '../provisioner.ts';
import type { ContentQuestion, ContentSource } from './content-question.ts';
import {
  type VolumeSnapshot,
  type VolumeSnapshotContent,
  volumeSnapshotContents,
  volumeSnapshots,
} from './snapshot-objects.ts';
import { isProtected } from './snapshot-protection.ts';

/** On a VolumeSnapshotContent: an administrator allows volumes of another mode from it. */
const allowModeChange = 'snapshot.storage.kubernetes.io/allow-volume-mode-change';
/** The texts that Go reads as true. */
const trueTexts: readonly unknown[] = ['1', 't', 'T', 'true', 'True', 'TRUE'];

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
  // The finalizer keeps the snapshot until the volumes that are being created from it are finished.
  if (snapshot.metadata?.deletionTimestamp !== undefined && !isProtected(snapshot))
    return refusedOutcome(`${which} is being deleted`, 'retry');
  const { boundVolumeSnapshotContentName = '', readyToUse } = snapshot.status ?? {};
  if (boundVolumeSnapshotContentName === '' || readyToUse !== true)
    return refusedOutcome(`${which} is not ready to use`, 'retry');
  const contents = cluster.resource(volumeSnapshotContents);
  const content = await undefinedIfNotFound(
    contents.get({ name: boundVolumeSnapshotContentName }, { signal }),
  );
  if (content === undefined || !isBoundTo(content, snapshot))
    return refusedOutcome(`${which} is not bound to its VolumeSnapshotContent on both sides`, 'retry');
  return checkedContent(content, { which, driverName: driver.name, snapshot, requestedBytes, claim });
}

function isBoundTo({ spec }: VolumeSnapshotContent, { metadata }: VolumeSnapshot): boolean {
  const { uid, namespace, name } = spec?.volumeSnapshotRef ?? {};
  return uid === metadata?.uid && namespace === metadata?.namespace && name === metadata?.name;
}

interface ContentCheck extends Pick<ContentQuestion, 'requestedBytes' | 'claim'> {
  readonly which: string;
  readonly driverName: string;
  readonly snapshot: VolumeSnapshot;
}

function checkedContent(
  { spec, status, metadata }: VolumeSnapshotContent,
  { which, driverName, snapshot, requestedBytes, claim }: ContentCheck,
): ContentSource | RefusedOutcome {
  const restoreSize = snapshot.status?.restoreSize;
  if (spec?.driver !== driverName)
    return refusedOutcome(`${which} is of CSI driver ${spec?.driver}, not of ${driverName}`, 'change');
  if (requestedBytes < bytesOf(restoreSize))
    return refusedOutcome(`a volume from ${which} needs at least ${restoreSize}; request as much`, 'change');
  const mode = textOf(spec.sourceVolumeMode);
  const isConversionAllowed = trueTexts.includes(lookUp(metadata?.annotations, allowModeChange));
  if (mode !== '' && mode !== volumeModeOf(claim) && !isConversionAllowed)
    return refusedOutcome(
      `${which} has volumeMode ${mode}; annotate VolumeSnapshotContent ${metadata?.name} with ${allowModeChange}=true to change it`,
      'change',
    );
  const snapshotId = textOf(status?.snapshotHandle);
  return snapshotId === ''
    ? refusedOutcome(`${which} has no handle yet`, 'retry')
    : { kind: 'snapshot', snapshotId, source: snapshot };
}

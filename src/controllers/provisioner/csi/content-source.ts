import { bytesOf } from '../../../kube/quantities/bytes.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { isClaimRefTo, volumeModeOf } from '../../../kube/volumes.ts';
import { textOf } from '../../../kube/wire.ts';
import { type RefusedOutcome, refusedOutcome } from '../provisioner.ts';
import type { ContentQuestion, ContentSource } from './content-question.ts';
import { snapshotGroup } from './snapshot-objects.ts';
import { snapshotSource } from './snapshot-source.ts';

/**
 * Reads `spec.dataSource` of a claim, or `spec.dataSourceRef`: the API server keeps both equal where it knows the kind. What cannot be used
 * yet is refused with `retry`: a source may become ready without an event that we see.
 */
export async function contentSourceOf(
  question: ContentQuestion,
  signal: AbortSignal,
): Promise<ContentSource | RefusedOutcome> {
  const { dataSource, dataSourceRef } = question.claim.spec ?? {};
  const source = dataSource ?? dataSourceRef ?? undefined;
  if (source === undefined) return { kind: 'empty' };
  const namespace = textOf(dataSourceRef?.namespace);
  if (namespace !== '' && namespace !== question.claim.metadata?.namespace)
    return refusedOutcome(
      `spec.dataSourceRef.namespace: a source of another namespace is not supported`,
      'change',
    );
  const name = textOf(source.name);
  const group = textOf(source.apiGroup);
  if (group === '' && source.kind === 'PersistentVolumeClaim')
    return await cloneSource(question, name, signal);
  if (group === snapshotGroup && source.kind === 'VolumeSnapshot')
    return await snapshotSource(question, name, signal);
  return refusedOutcome(
    `the data source ${source.kind}.${group} is left to a volume populator; ${question.driver.name} knows claims and snapshots only`,
    'change',
  );
}

async function cloneSource(
  { cluster, driver, claim, requestedBytes }: ContentQuestion,
  name: string,
  signal: AbortSignal,
): Promise<ContentSource | RefusedOutcome> {
  if (!driver.hasControllerCapability('CLONE_VOLUME'))
    return refusedOutcome(`CSI driver ${driver.name} cannot clone volumes; remove spec.dataSource`, 'change');
  const namespace = claim.metadata?.namespace;
  const key = { namespace, name };
  const source = await undefinedIfNotFound(cluster.resource(persistentVolumeClaims).get(key, { signal }));
  const which = `source claim "${namespace}/${name}"`;
  if (source === undefined) return refusedOutcome(`${which} does not exist`, 'retry');
  if (source.metadata?.deletionTimestamp !== undefined)
    return refusedOutcome(`${which} is being deleted`, 'retry');
  const volumeName = textOf(source.spec?.volumeName);
  if (source.status?.phase !== 'Bound' || volumeName === '')
    return refusedOutcome(`${which} is not bound yet`, 'retry');
  const volume = await undefinedIfNotFound(
    cluster.resource(persistentVolumes).get({ name: volumeName }, { signal }),
  );
  if (volume === undefined || !isClaimRefTo(volume.spec?.claimRef, source))
    return refusedOutcome(`${which} is not bound to volume "${volumeName}" on both sides`, 'retry');
  const { csi } = volume.spec ?? {};
  // Compares with the request of the source, as external-provisioner does: a driver may have rounded the volume up.
  const sourceSize = source.spec?.resources?.requests?.storage;
  if (csi?.driver !== driver.name)
    return refusedOutcome(
      `${which} has a volume of ${csi?.driver ?? 'no CSI driver'}, not of ${driver.name}`,
      'change',
    );
  if (volumeModeOf(source) !== volumeModeOf(claim))
    return refusedOutcome(
      `${which} has volumeMode ${volumeModeOf(source)}; a clone must have the same`,
      'change',
    );
  if (requestedBytes < bytesOf(sourceSize))
    return refusedOutcome(`a clone of ${which} needs at least ${sourceSize}; request as much`, 'change');
  return { kind: 'clone', volumeId: textOf(csi?.volumeHandle), source };
}

/** For CreateVolume. */
export function volumeContentSource(source: ContentSource) {
  switch (source.kind) {
    case 'empty':
      return undefined;
    case 'snapshot':
      return { type: { case: 'snapshot' as const, value: { snapshotId: source.snapshotId } } };
    case 'clone':
      return { type: { case: 'volume' as const, value: { volumeId: source.volumeId } } };
  }
}

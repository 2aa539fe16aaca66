import type { Cluster } from '../../../cluster/cluster.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { isReason } from '../../../kube/api-error.ts';
import { withPreconditions } from '../../../kube/patch-preconditions.ts';
import type { ObjectKey, Resource } from '../../../kube/resource.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { type Drive, driveProtectionFinalizer, drives } from '../../../kube/stowage/drive.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { CliError } from '../../errors/cli-error.ts';
import type { ForgetList, ForgottenDrive } from './forget-list.ts';

/** How often a drive is read again that another client changes at the same time. */
const attemptsMax = 8;

/** Why a drive must stay, by its current version: one that came back since the review has its data. Undefined if it may go. */
export type ProblemOf = (drive: Drive) => string | undefined;

/**
 * Removes what the list names, and reports each step. In this order: claims, PersistentVolumes, the entries of a drive, its object. Every deletion carries
 * the uid of the list, so that an object of the same name that was created later stays. If this process ends in between, the rest of the list is
 * still there, and another call with the same list goes on.
 */
export async function forgetDrives(
  cluster: Cluster,
  { drives: listed }: ForgetList,
  report: (line: string) => void,
  problemOf: ProblemOf = () => undefined,
): Promise<void> {
  for (const drive of listed) {
    await requireUnchanged(cluster, drive, problemOf);
    for (const { claim, persistentVolume } of drive.volumes) {
      if (claim?.isDeleted && (await isDeleted(cluster, persistentVolumeClaims, claim)))
        report(`persistentvolumeclaim ${claim.name} deleted`);
      if (persistentVolume?.isDeleted && (await isDeleted(cluster, persistentVolumes, persistentVolume)))
        report(`persistentvolume/${persistentVolume.name} deleted`);
    }
    if (await isForgotten(cluster, drive, problemOf))
      report(
        `drive.stowage.dev/${drive.name} forgotten, with ${drive.volumes.length} ${drive.volumes.length === 1 ? 'volume' : 'volumes'}`,
      );
    else report(`drive.stowage.dev/${drive.name} is gone already`);
  }
}

async function requireUnchanged(
  cluster: Cluster,
  listed: ForgottenDrive,
  problemOf: ProblemOf,
): Promise<Drive | undefined> {
  const drive = await undefinedIfNotFound(cluster.resource(drives).get({ name: listed.name }));
  // Another drive of the same name is not on the list.
  if (drive === undefined || drive.metadata?.uid !== listed.uid) return undefined;
  const problem = problemOf(drive);
  if (problem !== undefined) throw new CliError(problem);
  const known = new Set(listed.volumes.map(({ name }) => name));
  const unknown = (drive.spec?.volumes ?? []).filter(({ name }) => !known.has(name));
  if (unknown.length > 0)
    throw new CliError(
      `drive ${listed.name} has volumes that are not on the list: ${unknown.map(({ name }) => name).join(', ')}; write the list again with --output-file`,
    );
  return drive;
}

/** Empties the ledger and deletes the object at that version. False if it was gone. */
async function isForgotten(cluster: Cluster, listed: ForgottenDrive, problemOf: ProblemOf): Promise<boolean> {
  const client = cluster.resource(drives);
  const key = { name: listed.name };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const drive = await requireUnchanged(cluster, listed, problemOf);
      if (drive === undefined) return false;
      const emptied = await client.patch(key, {
        type: 'merge',
        body: withPreconditions(drive, withoutEntries(drive)),
      });
      const { uid = '', resourceVersion = '' } = emptied.metadata ?? {};
      await client.delete(key, { preconditions: { uid, resourceVersion } });
      return true;
    } catch (error) {
      // A drive that was already being deleted is removed with its last finalizer.
      if (isReason(error, 'NotFound')) return true;
      if (!isReason(error, 'Conflict') || attempt === attemptsMax) throw error;
    }
  }
}

function withoutEntries({ metadata }: Drive): object {
  const finalizers = (metadata?.finalizers ?? []).filter((one) => one !== driveProtectionFinalizer);
  return { metadata: { finalizers }, spec: { unschedulable: true, volumes: [] } };
}

async function isDeleted(
  cluster: Cluster,
  resource: Resource<KubeObject>,
  { name, uid }: { readonly name: string; readonly uid: string },
): Promise<boolean> {
  try {
    await cluster.resource(resource).delete(keyOf(name), { preconditions: { uid } });
    return true;
  } catch (error) {
    // Gone, or another object of the same name.
    if (isReason(error, 'NotFound', 'Conflict')) return false;
    throw error;
  }
}

function keyOf(text: string): ObjectKey {
  const [namespace, name] = text.split('/', 2);
  return name === undefined ? { name: text } : { namespace: namespace!, name };
}

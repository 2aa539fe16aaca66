import type { Cluster } from '../../cluster/cluster.ts';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { nodes, persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import { type Drive, drives } from '../../kube/stowage/drive.ts';
import type { Note } from '../view/note.ts';

/** The objects from which answers are computed. Undefined: the caller has no permission to list that kind. */
export interface DriveObjects {
  readonly drives: readonly Drive[];
  readonly claims: readonly PersistentVolumeClaim[] | undefined;
  readonly volumes: readonly PersistentVolume[] | undefined;
  readonly pods: readonly Pod[] | undefined;
  readonly nodes: readonly Node[] | undefined;
  readonly notes: readonly Note[];
}

/** Reads drives, and the objects that use them, as far as the caller may. */
export async function readDriveObjects(
  cluster: Cluster,
  { withUsers }: { readonly withUsers: boolean },
): Promise<DriveObjects> {
  const [{ items }, known, claims, volumes, found] = await Promise.all([
    cluster.resource(drives).list(),
    listIfPermitted(cluster, nodes),
    listIfPermitted(cluster, persistentVolumeClaims),
    withUsers ? listIfPermitted(cluster, persistentVolumes) : [],
    withUsers ? listIfPermitted(cluster, pods) : [],
  ]);
  const notes = [
    known ?? unreadNote('nodes', 'drives whose Node does not exist are not recognized'),
    claims ?? unreadNote('persistentvolumeclaims', 'promised bytes are not known'),
    volumes ?? unreadNote('persistentvolumes', 'leaked volumes are not recognized'),
    found ?? unreadNote('pods', 'the pods of volumes are not known'),
  ];
  return { drives: items, nodes: known, claims, volumes, pods: found, notes: notes.filter(isNote) };
}

/** Undefined if the caller has no right to list that kind. */
export async function listIfPermitted<T extends KubeObject>(
  cluster: Cluster,
  resource: Resource<T>,
): Promise<readonly T[] | undefined> {
  try {
    return (await cluster.resource(resource).list()).items;
  } catch (error) {
    if (isReason(error, 'Forbidden')) return undefined;
    throw error;
  }
}

export function unreadNote(plural: string, consequence: string): Note {
  return { about: 'unseen', text: `could not read ${plural} (forbidden): ${consequence}` };
}

function isNote(value: Note | readonly KubeObject[]): value is Note {
  return !Array.isArray(value);
}

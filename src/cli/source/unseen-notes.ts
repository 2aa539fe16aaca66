import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { UnlistedKind } from '../../state/list-cluster.ts';
import type { Note } from './note.ts';

/** What an answer cannot consider without objects of a kind. */
export const effects: { readonly [K in IndexedKind]: string } = {
  Node: 'nothing can be said about nodes',
  Pod: 'what other pods use and where they are is not counted',
  PersistentVolume: 'existing volumes are not looked at',
  PersistentVolumeClaim: 'claims are not looked at',
  StorageClass: 'whether a class waits for a pod or makes volumes is not known',
  CSIDriver: 'whether drivers track capacity is not known; capacity is not looked at',
  CSINode: 'how many volumes nodes can attach is not looked at',
  CSIStorageCapacity: 'capacity is not looked at',
  DriverCapacity: 'pools of DriverCapacity are not looked at',
  VolumeAttachment: 'volumes that are attached without a pod are not counted',
  Namespace: 'namespace selectors of pod affinity match nothing',
  Service: 'spreading by default constraints is not ranked',
  ReplicationController: 'spreading by default constraints is not ranked',
  ReplicaSet: 'spreading by default constraints is not ranked',
  StatefulSet: 'spreading by default constraints is not ranked',
};

export function unseenNotes(unseen: readonly UnlistedKind[]): readonly Note[] {
  return unseen.map(({ kind, plural, onlyNamespace }) => {
    const text =
      onlyNamespace === undefined
        ? `could not see ${plural}: forbidden; ${effects[kind]}`
        : `could see ${plural} in namespace ${onlyNamespace} only; elsewhere ${effects[kind]}`;
    return { about: 'unseen', text };
  });
}

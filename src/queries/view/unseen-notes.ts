import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { UnlistedKind } from '../../state/list-cluster.ts';
import type { ClusterView } from './cluster-view.ts';
import type { Note } from './note.ts';

/** The part of an answer that is missing without objects of a kind. */
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
  Drive: 'local drives are not looked at; without published capacity, nothing fits on them',
  VolumeAttachment: 'volumes that are attached without a pod are not counted',
  Namespace: 'namespace selectors of pod affinity match nothing',
  Service: 'spreading by default constraints is not ranked',
  ReplicationController: 'spreading by default constraints is not ranked',
  ReplicaSet: 'spreading by default constraints is not ranked',
  StatefulSet: 'spreading by default constraints is not ranked',
  DeviceClass: 'whether devices serve an extended resource is not known',
};

/** The parts of a view that follow from the kinds that the user may not list. */
export function limitsOf(
  unseen: readonly UnlistedKind[],
): Pick<ClusterView, 'notes' | 'seesNodes'> & { readonly unseen: readonly UnlistedKind[] } {
  return { notes: unseenNotes(unseen), unseen, seesNodes: !unseen.some(({ kind }) => kind === 'Node') };
}

/** The kinds that the user may not read, in one line: a user with permissions in one namespace lacks a dozen kinds. */
function unseenNotes(unseen: readonly UnlistedKind[]): readonly Note[] {
  if (unseen.length === 0) return [];
  const hidden = unseen.filter(({ onlyNamespace }) => onlyNamespace === undefined);
  const partly = unseen.filter(({ onlyNamespace }) => onlyNamespace !== undefined);
  const texts = [
    ...(hidden.length === 0 ? [] : [`could not read ${pluralsOf(hidden)} (forbidden)`]),
    ...(partly.length === 0
      ? []
      : [`could read ${pluralsOf(partly)} only in namespace ${partly[0]!.onlyNamespace}`]),
  ];
  return [{ about: 'unseen', text: `${texts.join('; ')}: ${effectsOf(hidden, partly).join('; ')}` }];
}

const effectsShownMax = 3;

/** The most important first, which is the order of {@link effects}. */
function effectsOf(hidden: readonly UnlistedKind[], partly: readonly UnlistedKind[]): readonly string[] {
  const order = Object.keys(effects);
  const sorted = [...hidden, ...partly].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const all = [
    ...new Set(
      sorted.flatMap(({ kind, onlyNamespace }) =>
        // Several kinds have the same effect.
        onlyNamespace === undefined ? effects[kind].split('; ') : [`elsewhere ${effects[kind]}`],
      ),
    ),
  ];
  return all.length <= effectsShownMax + 1 ? all : [...all.slice(0, effectsShownMax), 'and more'];
}

function pluralsOf(kinds: readonly UnlistedKind[]): string {
  return kinds.map(({ plural }) => plural).join(', ');
}

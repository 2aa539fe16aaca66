import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { Event } from '../../kube/api/core.ts';
import { textOf } from '../../kube/wire.ts';
import { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { everyKind, kindResources } from '../../state/kind-resources.ts';
import type { UnlistedKind } from '../../state/list-cluster.ts';
import { mayList, type Rights } from '../access/rights.ts';
import type { AnswerView } from './answer-view.ts';
import type { ClusterState, ConsoleDiskObjects } from './cluster-state.ts';
import { type DiskKind, diskKinds, resourceOfKind } from './console-objects.ts';

export interface ViewOptions {
  readonly rights: Rights;
  /** Kinds that the viewer may list only in some namespaces are limited to this one. */
  readonly namespace: string;
  readonly events?: readonly Event[];
  readonly nowMs: number;
}

/** The part of the state that the viewer may list, as a command with the viewer's own permissions would read it. */
export function viewOf(
  state: ClusterState,
  { rights, namespace, events = [], nowMs }: ViewOptions,
): AnswerView {
  if (rights.isFull)
    return {
      snapshot: state.snapshot,
      index: state.index,
      disks: state.disks,
      events,
      unseen: [],
      namespace: undefined,
      nowMs,
    };
  const snapshot = new ClusterSnapshot();
  const unseen = everyKind.flatMap((kind) => copyVisible(state, snapshot, kind, { rights, namespace }));
  const disks = visibleDisks(state.disks, rights);
  return { snapshot, index: undefined, disks, events, unseen, namespace, nowMs };
}

function copyVisible(
  state: ClusterState,
  to: ClusterSnapshot,
  kind: IndexedKind,
  { rights, namespace }: Pick<ViewOptions, 'rights' | 'namespace'>,
): UnlistedKind[] {
  const { plural, namespaced } = kindResources[kind];
  const isEverywhere = mayList(rights, plural);
  const isThere = isEverywhere || (namespaced && mayList(rights, plural, namespace));
  if (isThere)
    for (const object of state.snapshot.values(kind))
      if (isEverywhere || textOf(object.metadata?.namespace) === namespace) to.add(kind, object as never);
  return isEverywhere ? [] : [{ kind, plural, onlyNamespace: isThere ? namespace : undefined }];
}

function visibleDisks(disks: ConsoleDiskObjects, rights: Rights): ConsoleDiskObjects {
  const visible = (kind: DiskKind) =>
    mayList(rights, resourceOfKind(kind).plural) ? disks[kind] : new Map();
  return Object.fromEntries(diskKinds.map((kind) => [kind, visible(kind)])) as ConsoleDiskObjects;
}

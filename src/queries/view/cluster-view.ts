import type { Lease } from '../../kube/api/coordination.ts';
import type { Event } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import type { UnlistedKind } from '../../state/list-cluster.ts';
import type { DiskView } from './disk-view.ts';
import type { Note } from './note.ts';

/** Everything that an explanation is based on, from a live cluster or from files. */
export interface ClusterView {
  readonly snapshot: ClusterSnapshot;
  readonly events: readonly Event[];
  /** The Leases on which components of Stowage announce themselves; undefined if they may not be read. */
  readonly leases?: readonly Lease[] | undefined;
  /** The disks of `disks.stowage.dev`; undefined if no class uses them, or they may not be read. */
  readonly disks?: DiskView | undefined;
  /** PriorityClasses and PodDisruptionBudgets; undefined if they were not asked for. */
  readonly policies?: readonly KubeObject[] | undefined;
  /** Those of these kinds that the caller may not list in all namespaces. */
  readonly unreadPolicies?: readonly string[] | undefined;
  /** True if the server is that of `stowage up`. Only looked for if the Leases may not be read. */
  readonly isEmbedded?: boolean;
  /** True for files: a kind without objects may exist in the cluster. */
  readonly isFromFiles?: boolean;
  /** True for files that have all objects of a cluster, as a snapshot: then a kind without objects has none. */
  readonly isComplete?: boolean;
  /** True for a cluster with objects that exist only in memory: its scheduler has judged another cluster. */
  readonly isHypothetical?: boolean;
  /** The objects that are known to be missing. */
  readonly notes: readonly Note[];
  /** Kinds that the caller may not list; always empty for files. */
  readonly unseen?: readonly UnlistedKind[];
  /** False if nodes could not be read: then no statement about nodes is possible. */
  readonly seesNodes: boolean;
}

export interface Target {
  readonly kind: 'pod' | 'claim';
  readonly namespace: string;
  readonly name: string;
}

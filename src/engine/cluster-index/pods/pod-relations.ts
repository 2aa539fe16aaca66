import type { NamespaceRecord } from '../../records/namespace-record.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { TermTarget } from '../../records/pod-shape/pod-affinity.ts';
import { DomainTable } from '../nodes/domain-table.ts';
import type { NodeRow, NodeTable } from '../nodes/node-table.ts';
import { AffinityTermTable } from './affinity-term-table.ts';
import { NamespaceScopes } from './namespace-scopes.ts';
import type { OccupancyTable } from './occupancy.ts';
import { PodCountTable } from './pod-count-table.ts';
import { ServiceTable } from './service-table.ts';

/** The tables for rules about relations between pods: domains, pod counts, affinity terms, namespaces and services. */
export class PodRelations implements OccupancyTable {
  readonly domains: DomainTable;
  readonly counts: PodCountTable;
  readonly terms = new AffinityTermTable();
  readonly scopes: NamespaceScopes;
  readonly services = new ServiceTable();

  constructor(nodes: NodeTable, namespaces: ReadonlyMap<string, NamespaceRecord>) {
    this.domains = new DomainTable(nodes);
    this.counts = new PodCountTable(nodes);
    this.scopes = new NamespaceScopes(namespaces);
  }

  podAdded(row: NodeRow, pod: PodRecord): void {
    this.counts.podAdded(row, pod);
    this.terms.podAdded(row, pod);
  }

  podRemoved(row: NodeRow, pod: PodRecord): void {
    this.counts.podRemoved(row, pod);
    this.terms.podRemoved(row, pod);
  }

  /** Call this when the node's labels have changed, after the node table is updated. */
  nodeChanged(row: NodeRow, node: NodeRecord | undefined): void {
    this.domains.nodeChanged(row, node);
  }

  /** The view of a pod that the affinity terms of other pods are matched against. */
  termTarget({ namespace, labels }: PodRecord): TermTarget {
    return { namespace, labels, namespaceLabels: () => this.scopes.labelsOf(namespace) };
  }
}

/** NodePorts: only one pod at a time uses a port of a node, by protocol and address. The wildcard address conflicts with every address. */
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { type HostPort, hostPortsOf, portsConflict } from '../../records/pod-shape/host-ports.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { type Interest, type Prepared, type Rule, skip } from '../framework/rule.ts';
import { evictablePodsOn } from '../wake-conditions/evictable-pods.ts';
import { nodesVacated, occupiedNodes } from '../wake-conditions/pod-moves.ts';

type Ports = readonly HostPort[];

export const nodePortsRule: Rule<Ports> = {
  name: 'NodePorts',
  reasons: ['PortsTaken'],
  prepare,
  filter,
  explain,
  wakes,
  invalidates,
};

const takenBit = 1;

function prepare({ pod }: Cycle): Prepared<Ports> {
  const ports = hostPortsOf(pod.shape);
  return ports.length === 0 ? skip : { kind: 'ready', state: ports };
}

function filter(ports: Ports, cycle: Cycle): void {
  for (const port of ports) {
    for (const row of cycle.index.ports.rowsUsing(port)) {
      if (cycle.isFeasible(row)) cycle.reject(row, takenBit);
    }
  }
}

function explain(ports: Ports, { index }: Cycle, node: number): readonly Finding[] {
  if (areFree(ports, index, node)) return [];
  return [
    {
      rule: nodePortsRule.name,
      reason: 'PortsTaken',
      claim: undefined,
      candidates: [],
      omitted: 0,
      margin: undefined,
    },
  ];
}

function areFree(ports: Ports, index: ClusterIndex, node: number | undefined): boolean {
  return node !== undefined && !ports.some((port) => index.ports.isUsedOn(node, port));
}

function wakes({ pod }: Interest, change: ClusterChange, index: ClusterIndex): boolean {
  const ports = hostPortsOf(pod.shape);
  const isFreeOn = (nodeName: string) =>
    areFree(ports, index, index.nodes.row(nodeName)) || evictablePodsOn(nodeName, pod, index).length > 0;
  switch (change.kind) {
    case 'Node':
      return change.before === undefined && change.after !== undefined && isFreeOn(change.after.key);
    case 'Pod':
      return nodesFreed(ports, change.before, change.after).some(isFreeOn);
    case 'Release':
      return change.nodeName !== '' && isFreeOn(change.nodeName);
    default:
      return false;
  }
}

function invalidates({ pod }: Interest, change: ClusterChange): boolean {
  const ports = hostPortsOf(pod.shape);
  if (ports.length === 0) return false;
  switch (change.kind) {
    case 'Node':
      return change.before === undefined || change.after === undefined;
    case 'Pod':
      return (
        nodesFreed(ports, change.before, change.after).length > 0 ||
        nodesFreed(ports, change.after, change.before).length > 0
      );
    case 'Release':
      return change.nodeName !== '';
    default:
      return false;
  }
}

/** The nodes on which a pod used one of the ports and no longer does. */
function nodesFreed(ports: Ports, before: PodRecord | undefined, after: PodRecord | undefined): string[] {
  if (!usesAny(ports, before)) return [];
  return usesAny(ports, after) ? nodesVacated(before, after) : occupiedNodes(before);
}

function usesAny(ports: Ports, other: PodRecord | undefined): boolean {
  if (other === undefined) return false;
  const theirs = hostPortsOf(other.shape);
  return ports.some((port) => theirs.some((their) => portsConflict(port, their)));
}

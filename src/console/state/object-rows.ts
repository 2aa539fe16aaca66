import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { claimClassName, isFullyBound, volumeClassName } from '../../kube/volumes.ts';
import { annotations } from '../../kube/well-known.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import type { ConsoleClaim, ConsoleNode, ConsolePod, ConsoleVolume } from '../wire/rows.ts';

const zoneLabels = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];

/** Kubernetes has no label for racks. Any label that is called rack is taken, such as `example.com/rack`. */
const rackLabel = /^([^/]+\/)?rack$/;

export function consoleNodeOf(node: Node, index: ClusterIndex): ConsoleNode {
  const name = textOf(node.metadata?.name);
  const labels = node.metadata?.labels ?? {};
  const rack = Object.keys(labels)
    .sort()
    .find((label) => rackLabel.test(label));
  const zone = zoneLabels.find((label) => labels[label] !== undefined);
  const row = index.nodes.row(name);
  const { cpu, memory, pods } = index.usage;
  const amounts = ({ used, allocatable }: typeof cpu) =>
    row === undefined ? ([0, 0] as const) : ([used[row] ?? 0, allocatable[row] ?? 0] as const);
  return {
    id: name,
    zone: zone === undefined ? '' : (labels[zone] ?? ''),
    rack: rack === undefined ? '' : (labels[rack] ?? ''),
    isReady: listOf(node.status?.conditions).some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    ),
    isCordoned: node.spec?.unschedulable === true,
    cpu: amounts(cpu),
    memory: amounts(memory),
    pods: amounts(pods),
  };
}

export function consoleVolumeOf(volume: PersistentVolume, index: ClusterIndex): ConsoleVolume {
  const name = textOf(volume.metadata?.name);
  const { claimRef } = volume.spec ?? {};
  return {
    id: name,
    storageClass: volumeClassName(volume),
    sizeBytes: Number(bytesOf(volume.spec?.capacity?.storage)),
    phase: volume.status?.phase ?? 'Pending',
    claim: claimRef?.name === undefined ? '' : `${textOf(claimRef.namespace)}/${claimRef.name}`,
    node: onlyNodeOf(index, name),
    isProvisioned: volume.metadata?.annotations?.[annotations.provisionedBy] !== undefined,
  };
}

function onlyNodeOf(index: ClusterIndex, volume: string): string {
  const row = index.volumes.row(volume);
  if (row === undefined) return '';
  const rows = index.volumes.topology(row).nodes.rows();
  return rows.length === 1 ? (index.nodes.record(rows[0]!)?.key ?? '') : '';
}

export function consoleClaimOf(claim: PersistentVolumeClaim, isHeld: boolean): ConsoleClaim {
  const namespace = textOf(claim.metadata?.namespace);
  const selected = textOf(claim.metadata?.annotations?.[annotations.selectedNode]);
  const isBound = isFullyBound(claim);
  return {
    id: `${namespace}/${textOf(claim.metadata?.name)}`,
    namespace,
    storageClass: claimClassName(claim) ?? '',
    sizeBytes: Number(bytesOf(claim.spec?.resources?.requests?.storage)),
    state:
      claim.status?.phase === 'Lost'
        ? 'lost'
        : isBound
          ? 'bound'
          : selected !== '' || isHeld
            ? 'reserved'
            : 'waiting',
    volume: textOf(claim.spec?.volumeName),
    node: isBound ? '' : selected,
  };
}

export function consolePodOf(pod: Pod, index: ClusterIndex, hasReservedClaim: boolean): ConsolePod {
  const namespace = textOf(pod.metadata?.namespace);
  const id = `${namespace}/${textOf(pod.metadata?.name)}`;
  const record = index.pods.stored(id);
  return {
    id,
    namespace,
    state: podState(pod, hasReservedClaim),
    node: textOf(pod.spec?.nodeName),
    priority: record?.priority ?? 0,
    createdMs: parseTimestamp(pod.metadata?.creationTimestamp) ?? 0,
    claims: record?.claims.length ?? 0,
    owner: record?.owner ?? '',
  };
}

function podState({ metadata, spec, status }: Pod, hasReservedClaim: boolean): ConsolePod['state'] {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return 'finished';
  if (metadata?.deletionTimestamp !== undefined) return 'deleting';
  if (status?.phase === 'Running') return 'running';
  if (spec?.nodeName) return 'starting';
  if (listOf(spec?.schedulingGates).length > 0) return 'gated';
  return hasReservedClaim ? 'binding' : 'pending';
}

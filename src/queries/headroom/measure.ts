import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import {
  type Headroom,
  largestFit,
  measureHeadroom,
  type ReplicaTemplate,
  type ReplicaToFit,
} from '../../engine/headroom/headroom.ts';
import { type StorageCell, storageCells } from '../../engine/headroom/storage-cells.ts';
import type { ClassRecord } from '../../engine/records/class-record.ts';
import { nodeReasons, podReasons, type Reason } from '../../engine/rules/reasons.ts';
import type { WorkloadReference } from '../../engine/what-if/change.ts';
import { claimsFor } from '../../engine/workloads/stateful-set-claims.ts';
import { endOrdinalOf, memberPod } from '../../engine/workloads/stateful-set-members.ts';
import type { StatefulSet } from '../../kube/api/apps.ts';
import { withInFlightPods } from '../explain/in-flight-pods.ts';
import { type MakePlanOptions, whatIfIndex } from '../plan/make-plan.ts';
import { QuestionError } from '../question-error.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { DiskFit } from './disk-fit.ts';
import {
  type HeadroomReport,
  type HeadroomRow,
  type HeadroomTopology,
  headroomApiVersion,
  type RunsOutLine,
} from './headroom-report.ts';

export interface HeadroomMeasureOptions extends MakePlanOptions {
  readonly size: { readonly text: string; readonly bytes: number };
  readonly storageClass?: string | undefined;
  readonly like?: WorkloadReference | undefined;
  readonly countMax?: number | undefined;
  /** More topologies, and all reasons. */
  readonly isWide?: boolean | undefined;
}

/** Each topology costs a few plans. */
const topologiesMax = 10;
const topologiesMaxWide = 200;
const nodesNamedMax = 20;

/** Measures how much more fits; throws a QuestionError if the class or the workload does not exist. */
export function measureRoom(view: ClusterView, options: HeadroomMeasureOptions): HeadroomReport {
  const { index, notes } = whatIfIndex(view, options);
  const atOnce = delayAll(view, index);
  const rows = withInFlightPods(index, { view, except: '', nowMs: options.nowMs }, () =>
    options.like === undefined
      ? classesOf(index, options).map((record) => classRow(view, index, record, options))
      : [workloadRow(view, index, options.like, options)],
  );
  return {
    apiVersion: headroomApiVersion,
    kind: 'HeadroomReport',
    size: options.like === undefined ? options.size.text : undefined,
    rows,
    notes: [...view.notes, ...notes, ...atOnceNotes(atOnce)],
  };
}

/** Counts volumes of all classes with the pods that use them. Returns the names of classes that do not wait for pods. */
function delayAll({ snapshot }: ClusterView, index: ClusterIndex): readonly string[] {
  const atOnce = [...snapshot.values('StorageClass')].filter(
    ({ volumeBindingMode }) => volumeBindingMode !== 'WaitForFirstConsumer',
  );
  for (const { metadata: { resourceVersion: _, ...metadata } = {}, ...rest } of atOnce)
    index.upsert('StorageClass', { ...rest, metadata, volumeBindingMode: 'WaitForFirstConsumer' });
  return atOnce.map(({ metadata }) => metadata?.name ?? '').sort();
}

function atOnceNotes(names: readonly string[]): HeadroomReport['notes'] {
  if (names.length === 0) return [];
  const text = `${names.join(', ')}: volumes are created before their pod has a node, where the driver chooses; they are counted as if they waited for the pod`;
  return [{ about: 'assumed', text }];
}

function classesOf(index: ClusterIndex, { storageClass }: HeadroomMeasureOptions): readonly ClassRecord[] {
  const known = [...index.classes.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  if (storageClass === undefined) return known;
  const found = known.filter(({ key }) => key === storageClass);
  if (found.length === 0)
    throw new QuestionError(
      `there is no class ${storageClass}; kubectl get storageclasses lists those there are`,
    );
  return found;
}

function classRow(
  view: ClusterView,
  index: ClusterIndex,
  record: ClassRecord,
  options: HeadroomMeasureOptions,
): HeadroomRow {
  const withSize = (bytes: number) => storagePod(record, 0, bytes);
  const cells = cellsFor(index, withSize(options.size.bytes));
  const sorted = [...cells].sort(
    (a, b) => (b.upperBoundBytes ?? 0) - (a.upperBoundBytes ?? 0) || compareNodes(a, b),
  );
  const largestBytes = largestFit(withSize, index, {
    ...options,
    upperBoundBytes: upperBoundOf(sorted),
  });
  const counted = countReplicas(
    (number) => storagePod(record, number, options.size.bytes),
    view,
    index,
    options,
  );
  const shown = sorted.slice(0, options.isWide ? topologiesMaxWide : topologiesMax);
  const topologies = shown.map((cell) => {
    const { nodes: onlyNodes, upperBoundBytes } = cell;
    return topology(cell, counted, largestFit(withSize, index, { ...options, onlyNodes, upperBoundBytes }));
  });
  return {
    of: `class ${record.key}`,
    driver: record.canProvision ? record.provisioner : undefined,
    largestBytes,
    ...countLines(counted),
    topologies: topologies.toSorted((a, b) => (b.largestBytes ?? 0) - (a.largestBytes ?? 0)),
    omittedTopologies: cells.length - shown.length,
  };
}

interface CountedReplicas extends Headroom {
  /** Missing bytes of the disks for the next volume; undefined if something else runs out first. */
  readonly diskShortage: string | undefined;
}

function countReplicas(
  template: ReplicaTemplate,
  view: ClusterView,
  index: ClusterIndex,
  options: HeadroomMeasureOptions,
): CountedReplicas {
  const disks = new DiskFit(view);
  const counted = measureHeadroom(template, index, {
    ...options,
    alsoFits: (replica) => disks.place(replica),
  });
  return { ...counted, diskShortage: counted.isCapped ? undefined : disks.shortage };
}

function upperBoundOf(cells: readonly StorageCell[]): number | undefined {
  if (cells.some(({ upperBoundBytes }) => upperBoundBytes === undefined)) return undefined;
  return Math.max(0, ...cells.map(({ upperBoundBytes }) => upperBoundBytes ?? 0));
}

function compareNodes(a: StorageCell, b: StorageCell): number {
  return (a.nodes[0] ?? '') < (b.nodes[0] ?? '') ? -1 : 1;
}

function topology(
  { nodes }: StorageCell,
  { byNode, isCapped }: Headroom,
  largestBytes: number | undefined,
): HeadroomTopology {
  const count = nodes.reduce((sum, node) => sum + (byNode.get(node) ?? 0), 0);
  return {
    nodes: nodes.slice(0, nodesNamedMax),
    nodeCount: nodes.length,
    largestBytes,
    count: isCapped ? undefined : count,
  };
}

/** The nodes, grouped by what they reach for the first claim of the replica. */
function cellsFor(index: ClusterIndex, { claims }: ReplicaToFit): readonly StorageCell[] {
  const [claim] = claims;
  if (claim === undefined) return [];
  const savepoint = index.savepoint();
  try {
    index.upsert('PersistentVolumeClaim', claim);
    const record = index.claims.get(`${claim.metadata?.namespace}/${claim.metadata?.name}`);
    return record === undefined ? [] : storageCells(index, record).cells;
  } finally {
    index.rollback(savepoint);
  }
}

const measureNamespace = 'stowage-headroom';

/** A pod that needs nothing but one claim of the class. */
function storagePod({ key: storageClassName }: ClassRecord, number: number, bytes: number): ReplicaToFit {
  const name = `headroom-${number}`;
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }];
  return {
    pod: {
      metadata: { namespace: measureNamespace, name, uid: name },
      spec: { containers: [{ name: 'main' }], volumes },
    },
    claims: [
      {
        metadata: { namespace: measureNamespace, name, uid: `${name}-claim` },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName,
          // Exact beyond 2^53, where the shortest text of a number has other digits.
          resources: { requests: { storage: BigInt(bytes).toString() } },
        },
        status: { phase: 'Pending' },
      },
    ],
  };
}

function workloadRow(
  view: ClusterView,
  index: ClusterIndex,
  asked: WorkloadReference,
  options: HeadroomMeasureOptions,
): HeadroomRow {
  const template = replicasOfWorkload(view, asked);
  const counted = countReplicas(template, view, index, options);
  const cells = cellsFor(index, template(0));
  const max = options.isWide ? topologiesMaxWide : topologiesMax;
  return {
    of: `${asked.kind.toLowerCase()} ${asked.namespace}/${asked.name}`,
    driver: undefined,
    largestBytes: undefined,
    ...countLines(counted),
    topologies: cells.slice(0, max).map((cell) => topology(cell, counted, undefined)),
    omittedTopologies: Math.max(0, cells.length - max),
  };
}

/** Further replicas of the StatefulSet, beyond those that exist. */
function replicasOfWorkload({ snapshot }: ClusterView, asked: WorkloadReference): ReplicaTemplate {
  const { kind, namespace, name } = asked;
  const set = kind === 'StatefulSet' ? snapshot.get('StatefulSet', `${namespace}/${name}`) : undefined;
  if (kind !== 'StatefulSet')
    throw new QuestionError(
      `${kind.toLowerCase()} ${namespace}/${name} is not a StatefulSet; name one as sts/NAME or sts/NAMESPACE/NAME`,
    );
  if (set === undefined)
    throw new QuestionError(
      `there is no statefulset ${namespace}/${name}; kubectl get statefulsets -n ${namespace} lists those there are`,
    );
  return (number) => furtherReplica(set, number);
}

function furtherReplica(set: StatefulSet, number: number): ReplicaToFit {
  const ordinal = endOrdinalOf(set) + number;
  const pod = memberPod(set, { name: '', template: set.spec?.template ?? {} }, ordinal);
  return {
    pod: { ...pod, metadata: { ...pod.metadata, uid: `headroom-${ordinal}` } },
    claims: claimsFor(set, ordinal).map((claim) => ({
      ...claim,
      metadata: { ...claim.metadata, uid: `headroom-${ordinal}-${claim.metadata?.name}` },
      status: { phase: 'Pending' },
    })),
  };
}

function countLines({ count, isCapped, limits, podRefusals, diskShortage }: CountedReplicas) {
  if (diskShortage !== undefined)
    return { count, isCapped, runsOut: [{ reason: 'DiskShortage', sentence: diskShortage, nodes: 0 }] };
  const runsOut: readonly RunsOutLine[] =
    podRefusals.length > 0
      ? podRefusals.map(({ reason }) => ({ reason, sentence: sentenceOf(reason), nodes: 0 }))
      : limits.map(({ reason, nodes }) => ({ reason, sentence: sentenceOf(reason), nodes }));
  return { count, isCapped, runsOut };
}

function sentenceOf(reason: Reason): string {
  return reason in nodeReasons
    ? nodeReasons[reason as keyof typeof nodeReasons].sentence
    : podReasons[reason as keyof typeof podReasons].sentence;
}

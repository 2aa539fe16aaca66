import {
  type ClusterIndex,
  defaultRules,
  Ledger,
  plan,
  stowageProfile,
  volumeRules,
} from '../../src/engine/index.ts';
import { clusterOf } from '../../src/engine/testing/cluster.ts';
import { type OracleObjects, oraclePlan } from '../../src/engine/testing/oracle/index.ts';
import type { PersistentVolume } from '../../src/kube/api/core.ts';
import { type Benchmark, medianMs, type Percentiles, type Row, rounded, timeEach } from '../harness.ts';
import { capacityReportRows } from './capacity-reports.ts';
import {
  capacities,
  localClass,
  localVolume,
  nodes,
  podWithClaims,
  pooledClass,
  pooledDriver,
} from './clusters.ts';

/** A decision filters all nodes, scores, and reserves. The oracle's time for the same decision is shown beside it. */
export const engine: Benchmark = {
  name: 'engine',
  summary: 'decisions, events and memory of the engine, beside the slow oracle',
  run: (progress) => [
    ...localRows(progress),
    ...capacityRows(progress),
    ...eventRows(progress),
    ...capacityReportRows(progress),
    ...memoryRows(progress),
  ],
};

const decisionsTimed = 400;
const oracleDecisions = 3;
/** The oracle scans everything for every node; with more nodes one pod would take minutes. */
const oracleNodesMax = 100;

const localSizes = [
  { nodes: 100, pvs: 500 },
  { nodes: 5000, pvs: 5000 },
  { nodes: 5000, pvs: 50_000 },
  { nodes: 5000, pvs: 100_000 },
];

/** The volume rules alone, and all rules. */
const asked = [
  { claims: 1, rules: 'volume' },
  { claims: 3, rules: 'volume' },
  { claims: 1, rules: 'all' },
  { claims: 3, rules: 'all' },
] as const;

const rulesOf = { volume: volumeRules, all: defaultRules };

function localRows(progress: (text: string) => void): Row[] {
  return localSizes.flatMap((size) =>
    asked.map(({ claims, rules }) => {
      progress(`local: ${size.nodes} nodes, ${size.pvs} volumes, ${claims} claim(s), ${rules} rules`);
      // Few enough that the volumes don't run out.
      const decisions = Math.min(decisionsTimed, Math.floor(size.pvs / 5 / claims));
      const times = timeDecisions(localIndex(size.nodes, size.pvs), {
        claims,
        rules,
        className: 'local',
        decisions,
      });
      const oracleNodes = Math.min(size.nodes, oracleNodesMax);
      const oraclePvs = (size.pvs / size.nodes) * oracleNodes;
      const oracleP50Ms = timeOracle(localObjects(oracleNodes, oraclePvs), claims, 'local');
      return { work: 'local', ...size, claims, rules, ...times, oracleP50Ms, oracleNodes, oraclePvs };
    }),
  );
}

function capacityRows(progress: (text: string) => void): Row[] {
  return asked.map(({ claims, rules }) => {
    progress(`capacity: 5000 nodes, a pool each, ${claims} claim(s), ${rules} rules`);
    const index = clusterOf(pooledObjects(5000));
    const times = timeDecisions(index, { claims, rules, className: 'pooled', decisions: decisionsTimed });
    const oracleP50Ms = timeOracle(pooledObjects(oracleNodesMax), claims, 'pooled');
    const oracleSize = { oracleNodes: oracleNodesMax, oraclePools: oracleNodesMax };
    return {
      work: 'capacity',
      nodes: 5000,
      pools: 5000,
      claims,
      rules,
      ...times,
      oracleP50Ms,
      ...oracleSize,
    };
  });
}

function eventRows(progress: (text: string) => void): Row[] {
  progress('events: a volume bound and freed again, 5000 nodes, 50000 volumes');
  const index = localIndex(5000, 50_000);
  const events = 100_000;
  const changed = Array.from({ length: events }, (_, position) => boundOrFreed(position));
  const start = performance.now();
  for (const volume of changed) index.upsert('PersistentVolume', volume);
  const seconds = (performance.now() - start) / 1000;
  const each = {
    eventsPerSecond: Math.round(events / seconds),
    microsecondsEach: rounded((seconds * 1e6) / events),
  };
  return [{ work: 'events', nodes: 5000, pvs: 50_000, events, ...each }];
}

function boundOrFreed(position: number): PersistentVolume {
  const target = (Math.floor(position / 2) * 37) % 50_000;
  const volume = localVolume(target, 5000, String(position + 2));
  if (position % 2 === 1) return volume;
  const claimRef = { namespace: 'default', name: 'other', uid: 'other' };
  return { ...volume, spec: { ...volume.spec, claimRef }, status: { phase: 'Bound' } };
}

function memoryRows(progress: (text: string) => void): Row[] {
  progress('memory: 5000 nodes, 100000 volumes, 50000 pods with a claim each');
  const before = collectedHeapMiB();
  const index = localIndex(5000, 100_000);
  for (let position = 0; position < 50_000; position++) {
    const { pod, claims } = podWithClaims(position, 1, 'local');
    for (const claim of claims) index.upsert('PersistentVolumeClaim', claim);
    index.upsert('Pod', { ...pod, spec: { ...pod.spec, nodeName: `node-${position % 5000}` } });
  }
  const indexMiB = Math.round(collectedHeapMiB() - before);
  const rssMiB = Math.round(process.memoryUsage().rss / 2 ** 20);
  return [
    {
      work: 'memory',
      nodes: index.nodes.size,
      pvs: index.volumes.size,
      pods: index.pods.size,
      indexMiB,
      rssMiB,
    },
  ];
}

/** `npm run bench` starts Node with the garbage collector exposed; without it the figure includes garbage. */
function collectedHeapMiB(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
}

interface Decisions {
  readonly claims: number;
  readonly rules: 'volume' | 'all';
  readonly className: string;
  readonly decisions: number;
}

/** Every decision is reserved, so the next one uses what is left. */
function timeDecisions(
  index: ClusterIndex,
  { claims: claimCount, rules, className, decisions }: Decisions,
): Percentiles {
  const ledger = new Ledger(index);
  const pods = Array.from({ length: 2 * decisions }, (_, position) =>
    podWithClaims(position, claimCount, className),
  );
  for (const { claims } of pods) for (const claim of claims) index.upsert('PersistentVolumeClaim', claim);
  return timeEach(decisions, (repeat) => {
    const answer = plan(pods[repeat]!.pod, index, { nowMs: 0, rules: rulesOf[rules] });
    if (answer.kind === 'placement' && ledger.reserve(answer).kind !== 'reserved') {
      throw new Error('a new plan could not be reserved');
    }
  });
}

function timeOracle(objects: OracleObjects, claimCount: number, className: string): number {
  return medianMs(oracleDecisions, (repeat) => {
    const { pod, claims } = podWithClaims(repeat, claimCount, className);
    oraclePlan({ ...objects, PersistentVolumeClaim: claims }, pod, stowageProfile, 0);
  });
}

function localObjects(nodeCount: number, volumeCount: number): OracleObjects {
  const volumes = Array.from({ length: volumeCount }, (_, position) => localVolume(position, nodeCount, '1'));
  return { Node: nodes(nodeCount), StorageClass: [localClass], PersistentVolume: volumes };
}

function pooledObjects(nodeCount: number): OracleObjects {
  return {
    Node: nodes(nodeCount),
    StorageClass: [pooledClass],
    CSIDriver: [pooledDriver],
    CSIStorageCapacity: capacities(nodeCount),
  };
}

/** Adds volumes one by one, so that the objects themselves are collected before memory is measured. */
function localIndex(nodeCount: number, volumeCount: number): ClusterIndex {
  const index = clusterOf(localObjects(nodeCount, 0));
  for (let position = 0; position < volumeCount; position++) {
    index.upsert('PersistentVolume', localVolume(position, nodeCount, '1'));
  }
  return index;
}

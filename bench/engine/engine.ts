import { ClusterIndex, Ledger, plan } from '../../src/engine/index.ts';
import { type Benchmark, type Percentiles, type Row, rounded, timeEach } from '../harness.ts';
import {
  capacities,
  localClass,
  localVolume,
  nodes,
  podWithClaims,
  pooledClass,
  pooledDriver,
} from './clusters.ts';

/** A decision is filter over all nodes, score and reserve. */
export const engine: Benchmark = {
  name: 'engine',
  summary: 'decisions, events and memory of the engine, beside the slow oracle',
  run: (progress) => [
    ...localRows(progress),
    ...capacityRows(progress),
    ...eventRows(progress),
    ...memoryRows(progress),
  ],
};

const decisionsTimed = 400;

const localSizes = [
  { nodes: 100, pvs: 500 },
  { nodes: 5000, pvs: 5000 },
  { nodes: 5000, pvs: 50_000 },
  { nodes: 5000, pvs: 100_000 },
];

function localRows(progress: (text: string) => void): Row[] {
  return localSizes.flatMap((size) =>
    [1, 3].map((claims) => {
      progress(`local: ${size.nodes} nodes, ${size.pvs} volumes, ${claims} claim(s)`);
      const index = localIndex(size.nodes, size.pvs);
      const fitting = size.pvs / size.nodes >= claims ? decisionsTimed : 100;
      return {
        work: 'local',
        ...size,
        claims,
        ...timeDecisions(index, claims, 'local', Math.min(fitting, size.pvs / 5 / claims)),
      };
    }),
  );
}

function capacityRows(progress: (text: string) => void): Row[] {
  return [1, 3].map((claims) => {
    progress(`capacity: 5000 nodes, a pool each, ${claims} claim(s)`);
    const index = new ClusterIndex();
    for (const node of nodes(5000)) index.upsert('Node', node);
    index.upsert('StorageClass', pooledClass);
    index.upsert('CSIDriver', pooledDriver);
    for (const capacity of capacities(5000)) index.upsert('CSIStorageCapacity', capacity);
    return {
      work: 'capacity',
      nodes: 5000,
      pools: 5000,
      claims,
      ...timeDecisions(index, claims, 'pooled', decisionsTimed),
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
  return [
    {
      work: 'events',
      nodes: 5000,
      pvs: 50_000,
      events,
      eventsPerSecond: Math.round(events / seconds),
      microsecondsEach: rounded((seconds * 1e6) / events),
    },
  ];
}

function boundOrFreed(position: number) {
  const target = (Math.floor(position / 2) * 37) % 50_000;
  const volume = localVolume(target, 5000, String(position + 2));
  return position % 2 === 1
    ? volume
    : {
        ...volume,
        spec: { ...volume.spec, claimRef: { namespace: 'default', name: 'somebody', uid: 'somebody' } },
        status: { phase: 'Bound' as const },
      };
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
  const heapMiB = collectedHeapMiB() - before;
  return [
    {
      work: 'memory',
      nodes: index.nodes.size,
      pvs: index.volumes.size,
      pods: index.pods.size,
      indexMiB: Math.round(heapMiB),
      rssMiB: Math.round(process.memoryUsage().rss / 2 ** 20),
    },
  ];
}

function collectedHeapMiB(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
}

function localIndex(nodeCount: number, volumeCount: number): ClusterIndex {
  const index = new ClusterIndex();
  for (const node of nodes(nodeCount)) index.upsert('Node', node);
  index.upsert('StorageClass', localClass);
  for (let position = 0; position < volumeCount; position++)
    index.upsert('PersistentVolume', localVolume(position, nodeCount, '1'));
  return index;
}

/** Every decision is reserved, so the next one is made on what is left. */
function timeDecisions(
  index: ClusterIndex,
  claimCount: number,
  className: string,
  repeats: number,
): Percentiles {
  const ledger = new Ledger(index);
  const count = Math.floor(repeats);
  const pods = Array.from({ length: count + Math.ceil(count / 5) }, (_, position) =>
    podWithClaims(position, claimCount, className),
  );
  for (const { claims } of pods) for (const claim of claims) index.upsert('PersistentVolumeClaim', claim);
  return timeEach(count, (repeat) => {
    const answer = plan(pods[repeat]!.pod, index, { nowMs: 0 });
    if (answer.kind === 'placement' && ledger.reserve(answer).kind !== 'reserved')
      throw new Error('a fresh plan can be reserved');
  });
}

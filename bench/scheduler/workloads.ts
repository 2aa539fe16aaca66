import type { Cluster } from '../../src/cluster/cluster.ts';
import {
  csiDrivers,
  csiStorageCapacities,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../src/kube/resources.ts';
import { labels, noProvisioner } from '../../src/kube/well-known.ts';
import { inParallel } from '../in-parallel.ts';

const namespace = 'default';
const driver = 'bench.csi.example.com';

/** The content of a cluster, and what the pods request. */
export interface SchedulingWorkload {
  readonly name: string;
  readonly nodes: number;
  readonly volumes: number;
  readonly pods: number;
  readonly wants: 'nothing' | 'a local volume' | 'a new volume';
}

export async function seed(cluster: Cluster, work: SchedulingWorkload): Promise<void> {
  await inParallel(work.nodes, (at) => makeNode(cluster, at));
  if (work.wants === 'nothing') return;
  await cluster.resource(storageClasses).create({
    metadata: { name: 'bench' },
    provisioner: work.wants === 'a new volume' ? driver : noProvisioner,
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await inParallel(work.volumes, (at) => makeVolume(cluster, at, nodeName(at % work.nodes)));
  if (work.wants !== 'a new volume') return;
  await cluster.resource(csiDrivers).create({ metadata: { name: driver }, spec: { storageCapacity: true } });
  await inParallel(work.nodes, (at) => makePool(cluster, at));
}

/** Creates the pods after everything that they need. */
export async function makePods(cluster: Cluster, work: SchedulingWorkload): Promise<void> {
  if (work.wants !== 'nothing') await inParallel(work.pods, (at) => makeClaim(cluster, at));
  await inParallel(work.pods, (at) => makePod(cluster, at, work));
}

/** Resolves when this many pods have a node. */
export async function untilPlaced(cluster: Cluster, count: number): Promise<void> {
  const stop = new AbortController();
  const placed = new Set<string>();
  for await (const event of cluster.resource(pods).watch({ signal: stop.signal, sendInitialEvents: true })) {
    if (event.type === 'BOOKMARK' || (event.object.spec?.nodeName ?? '') === '') continue;
    placed.add(event.object.metadata?.name ?? '');
    if (placed.size === count) break;
  }
  stop.abort();
}

/** Simulates an external provisioner without delays: it watches claims, and creates a volume on the selected node. */
export async function provision(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const made = new Set<string>();
  for await (const event of cluster
    .resource(persistentVolumeClaims)
    .watch({ signal, sendInitialEvents: true })) {
    if (event.type === 'BOOKMARK') continue;
    const { name = '', uid = '', annotations } = event.object.metadata ?? {};
    const node = annotations?.['volume.kubernetes.io/selected-node'];
    if (node === undefined || made.has(uid)) continue;
    made.add(uid);
    await makeVolumeFor(cluster, { name, uid, node });
  }
}

export interface SelectedClaim {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/** Creates the volume for a claim with a selected node. */
export async function makeVolumeFor(cluster: Cluster, { name, uid, node }: SelectedClaim): Promise<void> {
  await cluster.resource(persistentVolumes).create({
    metadata: { name: `pvc-${uid}`, annotations: { 'pv.kubernetes.io/provisioned-by': driver } },
    spec: {
      ...diskSpec(node),
      csi: { driver, volumeHandle: uid },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
      persistentVolumeReclaimPolicy: 'Delete',
    },
  });
}

function nodeName(at: number): string {
  return `node-${at}`;
}

async function makeNode(cluster: Cluster, at: number): Promise<void> {
  const name = nodeName(at);
  const allocatable = { cpu: '64', memory: '256Gi', pods: '1000' };
  await cluster.resource(nodes).create({
    metadata: { name, labels: { [labels.hostname]: name, [labels.zone]: `zone-${at % 3}` } },
    status: { allocatable, capacity: allocatable },
  });
}

async function makeVolume(cluster: Cluster, at: number, node: string): Promise<void> {
  await cluster.resource(persistentVolumes).create({
    metadata: { name: `volume-${at}` },
    spec: { ...diskSpec(node), local: { path: `/mnt/${at}` } },
    status: { phase: 'Available' },
  });
}

function diskSpec(node: string) {
  const matchExpressions = [{ key: labels.hostname, operator: 'In', values: [node] }] as const;
  return {
    capacity: { storage: '10Gi' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'bench',
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
  } as const;
}

async function makePool(cluster: Cluster, at: number): Promise<void> {
  await cluster.resource(csiStorageCapacities).create({
    metadata: { namespace, name: `pool-${at}` },
    storageClassName: 'bench',
    capacity: '10Ti',
    nodeTopology: { matchLabels: { [labels.hostname]: nodeName(at) } },
  });
}

export async function makeClaim(cluster: Cluster, at: number): Promise<void> {
  await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name: `claim-${at}` },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'bench',
      resources: { requests: { storage: '5Gi' } },
    },
  });
}

export async function makePod(cluster: Cluster, at: number, { wants }: SchedulingWorkload): Promise<void> {
  const volumes =
    wants === 'nothing' ? [] : [{ name: 'data', persistentVolumeClaim: { claimName: `claim-${at}` } }];
  const requests = { cpu: '100m', memory: '128Mi' };
  await cluster.resource(pods).create({
    metadata: { namespace, name: `pod-${at}`, labels: { app: 'bench' } },
    spec: {
      schedulerName: 'stowage',
      containers: [{ name: 'main', image: 'pause', resources: { requests } }],
      volumes,
    },
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../../src/cluster/cluster.ts';
import { isReason } from '../../../src/kube/api-error.ts';
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../../src/kube/resources.ts';

const pod = { namespace: 'default', name: 'consumer' };
const claim = { namespace: 'default', name: 'claim' };
const volume = { name: 'disk-on-n2' };

/** The parts of the result that are the same on every server. */
export interface FlowOutcome {
  readonly podPhase: string | undefined;
  readonly node: string | undefined;
  readonly claimPhase: string | undefined;
  readonly claimVolume: string | undefined;
  readonly selectedNode: string | undefined;
  readonly volumePhase: string | undefined;
  readonly volumeClaim: string | undefined;
}

/**
 * Binds a claim that waits for its first consumer: two nodes, one disk that only n2 can use, and a pod with the claim. Resolves when the
 * pod runs.
 */
export async function bindOnFirstConsumer(cluster: Cluster): Promise<FlowOutcome> {
  await createFixture(cluster);
  await until(async () => (await cluster.resource(pods).get(pod)).status?.phase === 'Running');
  // kube-scheduler binds a pod when its claim names its volume; the phase is written after that.
  await until(
    async () => (await cluster.resource(persistentVolumeClaims).get(claim)).status?.phase === 'Bound',
  );
  const [boundPod, boundClaim, boundVolume] = await Promise.all([
    cluster.resource(pods).get(pod),
    cluster.resource(persistentVolumeClaims).get(claim),
    cluster.resource(persistentVolumes).get(volume),
  ]);
  return {
    podPhase: boundPod.status?.phase,
    node: boundPod.spec?.nodeName,
    claimPhase: boundClaim.status?.phase,
    claimVolume: boundClaim.spec?.volumeName,
    selectedNode: boundClaim.metadata?.annotations?.['volume.kubernetes.io/selected-node'],
    volumePhase: boundVolume.status?.phase,
    volumeClaim: boundVolume.spec?.claimRef?.name,
  };
}

/** Deletes the pod and its claim. The claim is deleted when no pod uses it any more, and the volume is then released. */
export async function release(cluster: Cluster): Promise<string | undefined> {
  await cluster.resource(persistentVolumeClaims).delete(claim);
  await cluster.resource(pods).delete(pod);
  await until(() => isGone(cluster.resource(persistentVolumeClaims).get(claim)));
  let phase: string | undefined;
  await until(async () => {
    phase = (await cluster.resource(persistentVolumes).get(volume)).status?.phase;
    return phase !== 'Bound';
  });
  return phase;
}

async function createFixture(cluster: Cluster): Promise<void> {
  for (const name of ['n1', 'n2']) {
    await cluster.resource(nodes).create({ metadata: { name, labels: { 'kubernetes.io/hostname': name } } });
  }
  await cluster.resource(storageClasses).create({
    metadata: { name: 'local' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  const onN2 = { key: 'kubernetes.io/hostname', operator: 'In', values: ['n2'] } as const;
  await cluster.resource(persistentVolumes).create({
    metadata: volume,
    spec: {
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'local',
      local: { path: '/mnt/disks/1' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onN2] }] } },
    },
  });
  await cluster.resource(persistentVolumeClaims).create({
    metadata: claim,
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      resources: { requests: { storage: '5Gi' } },
    },
  });
  await cluster.resource(pods).create({
    metadata: pod,
    spec: {
      containers: [{ name: 'main', image: 'pause', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim.name } }],
    },
  });
}

/** Waits without a limit of its own; the test's timeout applies. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await sleep(100);
}

async function isGone(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return false;
  } catch (error) {
    if (isReason(error, 'NotFound')) return true;
    throw error;
  }
}

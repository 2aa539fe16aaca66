import type { CsiRequestInit } from '../../../csi/csi-methods.ts';
import { JoiningDriverSet } from '../../../csi/joining-driver-set.ts';
import { nodes, persistentVolumeClaims, pods, storageClasses } from '../../../kube/resources.ts';
import { drives, drivesDriver } from '../../../kube/stowage/drive.ts';
import { allControllers } from '../../all-controllers.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';

export const gib = 2 ** 30;
export const zoneKey = 'topology.kubernetes.io/zone';
export const rackKey = 'example.com/rack';
export const namespace = 'default';
const size = { cpu: '8', memory: '32Gi', pods: '200' };

/** All controllers, and nodes without any knowledge of drives. */
export async function start(...nodeNames: readonly string[]) {
  const environment = await VirtualTimeCluster.start();
  await environment.installOwnKinds();
  const { cluster } = environment;
  for (const name of nodeNames)
    await cluster
      .resource(nodes)
      .create({ metadata: { name }, status: { allocatable: size, capacity: size } });
  const inProcessDrivers = new JoiningDriverSet();
  const failed: unknown[] = [];
  /** Nodes whose capacity was asked for. */
  const measured: string[] = [];
  inProcessDrivers.onJoin((driver) =>
    driver.onCallEnd(({ method, request, error }) => {
      if (method === 'CreateVolume' && error !== undefined) failed.push(error);
      if (method === 'GetCapacity') measured.push(nodeIn(request as CsiRequestInit<'GetCapacity'>));
    }),
  );
  environment.run(
    allControllers({ csiDrivers: inProcessDrivers, inProcessDrivers, driveTopologyKeys: [rackKey] }),
  );
  await environment.settle(1_000);
  return { environment, cluster, failed, measured };
}

function nodeIn({ accessibleTopology }: CsiRequestInit<'GetCapacity'>): string {
  return accessibleTopology?.segments?.['stowage.dev/node'] ?? '';
}

type Started = Awaited<ReturnType<typeof start>>;

export async function addDrive({ cluster }: Started, name: string, nodeName: string, sizeGib: number) {
  const client = cluster.resource(drives);
  const digits = Buffer.from(name).toString('hex').padStart(12, '0').slice(-12);
  const created = await client.create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Drive',
    metadata: { name },
    spec: { nodeName, filesystemUUID: `00000000-0000-4000-8000-${digits}` },
  });
  const status = { capacityBytes: sizeGib * gib, state: 'Ready' };
  await client.update({ ...created, status }, { subresource: 'status' });
}

export async function addPod(
  { cluster }: Started,
  name: string,
  sizes: readonly number[],
  storageClassName = 'stowage-drives',
) {
  const claims = sizes.map((_, at) => `${name}-${at}`);
  for (const [at, claim] of claims.entries())
    await cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name: claim },
      spec: {
        storageClassName,
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: `${sizes[at]}Gi` } },
      },
    });
  await cluster.resource(pods).create({
    metadata: { namespace, name },
    spec: {
      schedulerName: 'stowage',
      containers: [{ name: 'main', image: 'registry.example.com/app:1' }],
      volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
    },
  });
}

export async function phases({ cluster }: Started): Promise<readonly string[]> {
  const { items } = await cluster.resource(pods).list();
  return items.map(({ metadata, status }) => `${metadata?.name} ${status?.phase}`).sort();
}

export async function addClass(
  { cluster }: Started,
  name: string,
  key: string,
  value: string,
  isImmediate = false,
) {
  await cluster.resource(storageClasses).create({
    metadata: { name },
    provisioner: drivesDriver,
    volumeBindingMode: isImmediate ? 'Immediate' : 'WaitForFirstConsumer',
    allowedTopologies: [{ matchLabelExpressions: [{ key, values: [value] }] }],
  });
}

export function relabel({ cluster }: Started, name: string, labels: Readonly<Record<string, string | null>>) {
  return cluster.resource(nodes).patch({ name }, { type: 'merge', body: { metadata: { labels } } });
}

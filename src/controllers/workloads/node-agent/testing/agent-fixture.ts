import type {
  PersistentVolumeAccessMode,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  PodSpec,
} from '../../../../kube/api/core.ts';
import { nodes, persistentVolumeClaims, persistentVolumes, pods } from '../../../../kube/resources.ts';
import type { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';

export const namespace = 'default';
export const testDriver = 'd.example.com';

export async function makeNode(
  { cluster }: VirtualTimeCluster,
  name: string,
  more: object = {},
): Promise<void> {
  await cluster.resource(nodes).create({ metadata: { name, labels: { zone: name }, ...more } });
}

export interface BoundOptions {
  readonly mode?: PersistentVolumeAccessMode;
  readonly spec?: PersistentVolumeSpec;
  /** Leaves the claim Pending. */
  readonly isUnbound?: boolean;
}

/** A claim `NAME` bound to a volume `v-NAME` of a CSI driver. */
export async function makeClaim(
  fixture: VirtualTimeCluster,
  name: string,
  { mode = 'ReadWriteOnce', spec, isUnbound = false }: BoundOptions = {},
): Promise<void> {
  const claims = fixture.cluster.resource(persistentVolumeClaims);
  const volumeName = `v-${name}`;
  const claim = await claims.create({
    metadata: { namespace, name },
    spec: {
      accessModes: [mode],
      resources: { requests: { storage: '1Gi' } },
      volumeName,
      storageClassName: '',
    },
  });
  const { uid = '' } = claim.metadata ?? {};
  await fixture.cluster.resource(persistentVolumes).create({
    metadata: { name: volumeName },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: [mode],
      claimRef: { namespace, name, uid },
      ...(spec ?? { csi: { driver: testDriver, volumeHandle: `handle-${name}` } }),
    },
  });
  if (!isUnbound) await bindClaim(fixture, name);
}

export async function bindClaim({ cluster }: VirtualTimeCluster, name: string): Promise<void> {
  const status = { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } };
  await cluster
    .resource(persistentVolumeClaims)
    .patch({ namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' });
}

/** A pod on a node that uses the claims. */
export async function makePod(
  { cluster }: VirtualTimeCluster,
  name: string,
  options: {
    readonly node?: string;
    readonly claims?: readonly string[];
    readonly spec?: PodSpec;
    readonly annotations?: Readonly<Record<string, string>>;
  } = {},
): Promise<void> {
  const { node = 'n1', claims = [], spec = {}, annotations = {} } = options;
  await cluster.resource(pods).create({
    metadata: { namespace, name, annotations },
    spec: {
      nodeName: node,
      containers: [{ name: 'main', image: 'pause' }],
      volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      ...spec,
    },
  });
}

export async function getPod({ cluster }: VirtualTimeCluster, name: string): Promise<Pod> {
  return await cluster.resource(pods).get({ namespace, name });
}

export async function getClaim(
  { cluster }: VirtualTimeCluster,
  name: string,
): Promise<PersistentVolumeClaim> {
  return await cluster.resource(persistentVolumeClaims).get({ namespace, name });
}

/** Pods as `NAME PHASE`. */
export async function phases({ cluster }: VirtualTimeCluster): Promise<readonly string[]> {
  const { items } = await cluster.resource(pods).list();
  return items.map(({ metadata, status }) => `${metadata?.name} ${status?.phase}`);
}

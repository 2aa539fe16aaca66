import type { Cluster } from '../../src/cluster/cluster.ts';
import type { ObjectReference } from '../../src/kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes, storageClasses } from '../../src/kube/resources.ts';
import { inParallel } from '../in-parallel.ts';

const namespace = 'default';

type Reference = Pick<ObjectReference, 'namespace' | 'name' | 'uid'>;

/** Claims and a volume for each, in their own class, so that workloads can run one after another in one cluster. */
export interface BindingWorkload {
  readonly name: string;
  readonly className: string;
  readonly volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer';
  claimRefOf(claim: { readonly name: string; readonly uid: string }): Reference | undefined;
}

export const prebound: BindingWorkload = {
  name: 'volumes that name their claims',
  className: 'prebound',
  volumeBindingMode: 'Immediate',
  claimRefOf: ({ name }) => ({ namespace, name }),
};

export const delayed: BindingWorkload = {
  name: 'delayed claims, volumes chosen by the scheduler',
  className: 'delayed',
  volumeBindingMode: 'WaitForFirstConsumer',
  claimRefOf: ({ name, uid }) => ({ namespace, name, uid }),
};

export const freeChoice: BindingWorkload = {
  name: 'free choice',
  className: 'free',
  volumeBindingMode: 'Immediate',
  claimRefOf: () => undefined,
};

export async function prepare(cluster: Cluster, work: BindingWorkload, claims: number): Promise<void> {
  const { className, volumeBindingMode } = work;
  const provisioner = 'kubernetes.io/no-provisioner';
  const metadata = { name: className };
  await cluster.resource(storageClasses).create({ metadata, provisioner, volumeBindingMode });
  await inParallel(claims, (at) => makePair(cluster, work, at));
}

/** Released volumes of the class: no claim can use them, and the binder has to skip them. */
export async function makeReleased(
  cluster: Cluster,
  { className }: BindingWorkload,
  count: number,
): Promise<void> {
  const claimRef = { namespace, name: 'gone', uid: 'gone' };
  const phase = 'Released';
  await inParallel(count, (at) =>
    makeVolume(cluster, { name: `old-${at}`, className, size: 10, claimRef, phase }),
  );
}

/** Resolves when this many claims of the workload are bound, with the times at which the first and the last were observed. */
export async function untilBound(
  cluster: Cluster,
  work: BindingWorkload,
  claims: number,
): Promise<BoundTimes> {
  const stop = new AbortController();
  const bound = new Set<string>();
  let firstAt = 0;
  const client = cluster.resource(persistentVolumeClaims);
  for await (const event of client.watch({ signal: stop.signal, sendInitialEvents: true, namespace })) {
    if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
    const { metadata, spec, status } = event.object;
    if (spec?.storageClassName !== work.className || status?.phase !== 'Bound') continue;
    if (bound.size === 0) firstAt = performance.now();
    bound.add(metadata?.name ?? '');
    if (bound.size === claims) break;
  }
  stop.abort();
  if (bound.size < claims) throw new Error(`the watch ended with ${bound.size} of ${claims} claims bound`);
  return { firstAt, lastAt: performance.now() };
}

export interface BoundTimes {
  readonly firstAt: number;
  readonly lastAt: number;
}

async function makePair(cluster: Cluster, work: BindingWorkload, at: number): Promise<void> {
  const { className } = work;
  const size = 1 + (at % 100);
  const name = `${className}-${at}`;
  const claim = await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: className,
      resources: { requests: { storage: `${size}Gi` } },
    },
  });
  const claimRef = work.claimRefOf({ name, uid: claim.metadata?.uid ?? '' });
  await makeVolume(cluster, { name, className, size, claimRef, phase: 'Available' });
}

interface VolumeToMake {
  readonly name: string;
  readonly className: string;
  readonly size: number;
  readonly claimRef: Reference | undefined;
  readonly phase: 'Available' | 'Released';
}

async function makeVolume(cluster: Cluster, volume: VolumeToMake): Promise<void> {
  const { name, className, size, claimRef, phase } = volume;
  const client = cluster.resource(persistentVolumes);
  const key = 'kubernetes.io/hostname';
  const expression = { key, operator: 'In' as const, values: [`node-${name.slice(-3)}`] };
  await client.create({
    metadata: { name },
    spec: {
      capacity: { storage: `${size}Gi` },
      accessModes: ['ReadWriteOnce'],
      storageClassName: className,
      local: { path: '/mnt/disk' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
      ...(claimRef && { claimRef }),
    },
  });
  await client.patch({ name }, { type: 'merge', body: { status: { phase } } }, { subresource: 'status' });
}

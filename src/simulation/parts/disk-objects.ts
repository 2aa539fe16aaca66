import type { Cluster } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { backingImages } from '../../kube/disks/backing-image.ts';
import { diskSchedules } from '../../kube/disks/disk-schedule.ts';
import { replicas } from '../../kube/disks/replica.ts';
import { diskVolumes } from '../../kube/disks/volume.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import type { ActionContext } from '../part.ts';
import { gibibyte } from '../simulated-driver.ts';

/** Creates an object of a kind of `stowage.dev`. */
export async function createDiskObject(
  cluster: Cluster,
  resource: Resource<KubeObject & { readonly spec?: object }>,
  name: string,
  spec: object,
): Promise<void> {
  const apiVersion = apiVersionOf(resource);
  await cluster.resource(resource).create({ apiVersion, kind: resource.kind, metadata: { name }, spec });
}

export interface VolumeWish {
  readonly gib: number;
  readonly replicas: number;
  readonly image?: string;
}

export async function createVolumeObject(
  cluster: Cluster,
  name: string,
  { gib, replicas: numberOfReplicas, image }: VolumeWish,
): Promise<void> {
  const fromImage = image === undefined ? {} : { backingImage: image };
  const spec = { size: gib * gibibyte, numberOfReplicas, ...fromImage };
  await createDiskObject(cluster, diskVolumes, name, spec);
}

export async function createImageObject(
  cluster: Cluster,
  name: string,
  { gib, copies }: { readonly gib: number; readonly copies: number },
): Promise<void> {
  const source = { download: { url: 'https://images.example.com/base' } };
  const spec = { source, expectedSize: gib * gibibyte, minNumberOfCopies: copies };
  await createDiskObject(cluster, backingImages, name, spec);
}

/** Writes fields that a person or an agent owns, whatever else is in the object. */
export async function mergeDiskObject(
  cluster: Cluster,
  resource: Resource<KubeObject>,
  name: unknown,
  body: object,
  subresource?: 'status',
): Promise<void> {
  const options = subresource === undefined ? {} : { subresource };
  await cluster.resource(resource).patch({ name: String(name) }, { type: 'merge', body }, options);
}

/** Another program writes the request of a replica, if there is one. */
export async function changeRequest(cluster: Cluster, name: string, bytes: number): Promise<void> {
  const { spec } = await cluster.resource(replicas).get({ name });
  if (spec?.diskID === undefined) return;
  const { spec: requests } = await cluster.resource(diskSchedules).get({ name: spec.diskID });
  if (ownValue(requests?.replicas, name) === undefined) return;
  await mergeDiskObject(cluster, diskSchedules, spec.diskID, { spec: { replicas: { [name]: bytes } } });
}

/** Any time: readers look at whether it is there. */
export const past = '2026-01-01T00:00:00Z';

/** The agents of all nodes report what they have made and removed. */
export async function reportData({ cluster }: Pick<ActionContext, 'cluster'>): Promise<void> {
  await reportReplicas(cluster);
  await reportCopies(cluster);
}

/** Replicas that may run have their data now. */
async function reportReplicas(cluster: Cluster): Promise<void> {
  for (const { metadata, spec, status } of (await cluster.resource(replicas).list()).items)
    if (spec?.desiredState === 'running' && status?.healthyAt === undefined)
      await mergeDiskObject(cluster, replicas, metadata?.name, { status: { healthyAt: past } }, 'status');
}

/** Copies whose bytes have been granted are there now, and those that are not wanted are gone. */
async function reportCopies(cluster: Cluster): Promise<void> {
  const schedules = (await cluster.resource(diskSchedules).list()).items;
  for (const { metadata, spec, status } of (await cluster.resource(backingImages).list()).items) {
    const name = metadata?.name ?? '';
    const wanted = Object.keys(spec?.diskFileSpecMap ?? {});
    const granted = schedules.filter(
      (schedule) => ownValue(schedule.status?.backingImages, name)?.state === 'scheduled',
    );
    const ready = granted.flatMap((schedule) =>
      wanted.includes(schedule.metadata?.name ?? '') ? [schedule.metadata?.name ?? ''] : [],
    );
    const gone = Object.keys(status?.diskFileStatusMap ?? {}).filter((uuid) => !wanted.includes(uuid));
    const diskFileStatusMap = Object.fromEntries([
      ...ready.map((uuid) => [uuid, { state: 'ready' }]),
      ...gone.map((uuid) => [uuid, null]),
    ]);
    const size = status?.size ?? (ready.length > 0 ? spec?.expectedSize : undefined);
    const body = { status: { ...(size !== undefined && { size }), diskFileStatusMap } };
    await mergeDiskObject(cluster, backingImages, name, body, 'status');
  }
}

import type { Cluster } from '../../cluster/cluster.ts';
import { copyBytes, mayMakeCopy } from '../../engine/disks/images/may-make-copy.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import { type BackingImage, backingImages } from '../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
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

export interface ImageWish {
  readonly gib: number;
  readonly copies: number;
  /** Without `spec.expectedSize`: an agent reads the length of the source. */
  readonly isSizeUnknown?: boolean;
}

export async function createImageObject(
  cluster: Cluster,
  name: string,
  { gib, copies, isSizeUnknown = false }: ImageWish,
): Promise<void> {
  const source = { download: { url: `https://images.example.com/${gib * gibibyte}` } };
  const expected = isSizeUnknown ? {} : { expectedSize: gib * gibibyte };
  await createDiskObject(cluster, backingImages, name, { source, ...expected, minNumberOfCopies: copies });
}

/** The length of a source of `createImageObject`. */
function sourceBytes({ spec }: BackingImage): number {
  return Number(spec?.source?.download?.url?.split('/').at(-1));
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

/** The agents of all nodes report the replicas that they created and removed. */
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

/**
 * Copies that may be made are there now, and those that are not wanted are gone. If no size of an image with a copy is known, the agent reads the length of
 * the source.
 */
async function reportCopies(cluster: Cluster): Promise<void> {
  const schedules = (await cluster.resource(diskSchedules).list()).items;
  for (const image of (await cluster.resource(backingImages).list()).items) {
    const { metadata, spec, status } = image;
    const name = metadata?.name ?? '';
    const wanted = Object.keys(spec?.diskFileSpecMap ?? {});
    const ready = schedules.flatMap((schedule) => {
      const uuid = schedule.metadata?.name ?? '';
      return mayMakeCopy(image, uuid, schedule) ? [uuid] : [];
    });
    const gone = Object.keys(status?.diskFileStatusMap ?? {}).filter((uuid) => !wanted.includes(uuid));
    const diskFileStatusMap = Object.fromEntries([
      ...ready.map((uuid) => [uuid, { state: 'ready' }]),
      ...gone.map((uuid) => [uuid, null]),
    ]);
    const size = status?.size ?? (ready.length > 0 ? sourceBytes(image) : undefined);
    const isUnknown = wanted.length > 0 && copyBytes(image) === undefined;
    const sizes = {
      ...(size !== undefined && { size }),
      ...(isUnknown && { sourceSize: sourceBytes(image) }),
    };
    const body = { status: { ...sizes, diskFileStatusMap } };
    await mergeDiskObject(cluster, backingImages, name, body, 'status');
  }
}

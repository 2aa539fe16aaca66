import type { Cluster } from '../../../cluster/cluster.ts';
import { isReason } from '../../../kube/api-error.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import {
  type BackingImage,
  type BackingImageSpec,
  backingImages,
} from '../../../kube/stowage/backing-image.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { CliError } from '../../errors/cli-error.ts';
import { withDisks } from '../with-disks.ts';
import {
  checksumIn,
  type NewImageFlags,
  placementIn,
  requireImageName,
  sizeIn,
  urlIn,
} from './image-flags.ts';

export interface CreateImageFlags extends NewImageFlags {
  readonly url: string;
  readonly checksum?: string;
  readonly expectedSize?: string;
}

/** `stowage disks image create`. */
export async function createImage(name: string, flags: CreateImageFlags): Promise<void> {
  requireImageName(name);
  const [url, checksum, expectedSize] = [
    urlIn(flags.url),
    checksumIn(flags.checksum),
    sizeIn(flags.expectedSize),
  ];
  const spec: BackingImageSpec = {
    source: { download: { url } },
    ...(checksum !== undefined && { checksum }),
    ...(expectedSize !== undefined && { expectedSize }),
    ...placementIn(flags),
  };
  await withDisks(flags, (cluster) => createBackingImage(cluster, name, spec));
  process.stdout.write(createdText(name));
}

/** `stowage disks image from-volume`. */
export async function imageFromVolume(name: string, volume: string, flags: NewImageFlags): Promise<void> {
  requireImageName(name);
  const placement = placementIn(flags);
  await withDisks(flags, (cluster) => createFromVolume(cluster, name, volume, placement));
  process.stdout.write(createdText(name));
}

export async function createFromVolume(
  cluster: Cluster,
  name: string,
  argument: string,
  placement: BackingImageSpec,
): Promise<BackingImage> {
  const volume = argument.replace(/^volume(\.stowage\.dev)?\//, '');
  const client = cluster.resource(diskVolumes);
  const found = await undefinedIfNotFound(client.get({ name: volume }));
  if (found === undefined)
    throw new CliError(`there is no Volume ${volume}; stowage disks list --volumes shows all`);
  const size = found.status?.size;
  if (size === undefined)
    throw new CliError(
      `Volume ${volume} has no data yet: not all of its replicas have been placed; stowage disks describe volume/${volume} says why`,
    );
  return await createBackingImage(cluster, name, {
    source: { volume: { name: volume } },
    expectedSize: size,
    ...placement,
  });
}

export async function createBackingImage(
  cluster: Cluster,
  name: string,
  spec: BackingImageSpec,
): Promise<BackingImage> {
  try {
    return await cluster
      .resource(backingImages)
      .create({ apiVersion: apiVersionOf(backingImages), kind: 'BackingImage', metadata: { name }, spec });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
    throw new CliError(
      `image ${name} exists already; choose another name, or delete it with stowage disks image delete ${name}`,
      1,
      { cause: error },
    );
  }
}

function createdText(name: string): string {
  return `image/${name} created; stowage disks describe image/${name} shows its progress\n`;
}

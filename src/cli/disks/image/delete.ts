import type { Cluster } from '../../../cluster/cluster.ts';
import { isReason } from '../../../kube/api-error.ts';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { CliError } from '../../errors/cli-error.ts';
import { type DisksFlags, withDisks } from '../with-disks.ts';

const namesShownMax = 5;

/** `stowage disks image delete`. */
export async function deleteImage(argument: string, flags: DisksFlags): Promise<void> {
  const name = argument.replace(/^(image|backingimage(\.stowage\.dev)?)\//, '');
  await withDisks(flags, (cluster) => deleteUnusedImage(cluster, name));
  process.stdout.write(`image/${name} deleted\n`);
}

/**
 * Deletes the image that was found, and no other one of the same name. A Volume that is created at the same time waits for an image that does not
 * exist, and says so.
 */
export async function deleteUnusedImage(cluster: Cluster, name: string): Promise<void> {
  const client = cluster.resource(backingImages);
  const image = await undefinedIfNotFound(client.get({ name }));
  if (image === undefined)
    throw new CliError(`there is no image ${name}; stowage disks image list shows all`);
  const { items } = await cluster.resource(diskVolumes).list();
  const users = items
    .filter(({ spec }) => spec?.backingImage === name)
    .map(({ metadata }) => metadata?.name ?? '');
  if (users.length > 0) throw new CliError(usersText(name, users));
  const { uid } = image.metadata ?? {};
  try {
    await client.delete({ name }, { preconditions: { ...(uid !== undefined && { uid }) } });
  } catch (error) {
    if (isReason(error, 'NotFound')) return;
    if (!isReason(error, 'Conflict')) throw error;
    throw new CliError(`image ${name} was deleted and created again meanwhile; call the command again`, 1, {
      cause: error,
    });
  }
}

function usersText(name: string, users: readonly string[]): string {
  const more = users.length - namesShownMax;
  const shown = `${users.slice(0, namesShownMax).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
  return `image ${name} is used by the volumes ${shown}; delete them first`;
}

import type { CallOptions } from './csi-client.ts';
import { CsiCallError } from './csi-errors.ts';
import type { CsiReply } from './csi-methods.ts';
import type { ServedCsiDriver } from './served-driver.ts';

type Entry = CsiReply<'ListVolumes'>['entries'][number];

/** A driver that repeats itself must not keep us busy without end. */
const pagesMax = 10_000;

/**
 * All volumes that the driver lists, page after page. The driver chooses the size of pages. A token that the driver accepts no more (Aborted)
 * means that the list has to be read again; that is done once.
 */
export async function listVolumes(
  driver: ServedCsiDriver,
  options: Omit<CallOptions, 'connection'>,
): Promise<readonly Entry[]> {
  try {
    return await readPages(driver, options);
  } catch (error) {
    if (!(error instanceof CsiCallError) || error.code !== 'Aborted') throw error;
    return await readPages(driver, options);
  }
}

/**
 * The id of the volume that was created with this name, if the driver lists its volumes and has the name in the id or the context of the
 * volume, as many do. Undefined says nothing: CSI does not list names.
 */
export async function findListedVolume(
  driver: ServedCsiDriver,
  name: string,
  options: Omit<CallOptions, 'connection'>,
): Promise<string | undefined> {
  if (!driver.hasControllerCapability('LIST_VOLUMES')) return undefined;
  const found = (await listVolumes(driver, options)).filter(({ volume }) =>
    [volume?.volumeId ?? '', ...Object.values(volume?.volumeContext ?? {})].some((text) =>
      text.includes(name),
    ),
  );
  return found.length === 1 ? found[0]?.volume?.volumeId : undefined;
}

async function readPages(
  driver: ServedCsiDriver,
  options: Omit<CallOptions, 'connection'>,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let startingToken = '';
  for (let page = 0; page < pagesMax; page += 1) {
    const reply = await driver.call('ListVolumes', { startingToken }, options);
    for (const entry of reply.entries) entries.push(entry);
    if (reply.nextToken === '' || reply.nextToken === startingToken) return entries;
    startingToken = reply.nextToken;
  }
  throw new Error(`ListVolumes of ${driver.name} has more than ${pagesMax} pages`);
}

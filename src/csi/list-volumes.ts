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

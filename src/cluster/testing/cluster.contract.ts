import { afterAll, beforeAll, describe } from 'vitest';
import { concurrencyContract } from './contract-concurrency.ts';
import { deletionContract } from './contract-deletion.ts';
import { listContract } from './contract-list.ts';
import { patchContract } from './contract-patch.ts';
import { rulesContract } from './contract-rules.ts';
import { subresourceContract } from './contract-subresources.ts';
import { watchContract } from './contract-watch.ts';
import type { World } from './contract-world.ts';
import { writeContract } from './contract-write.ts';

/**
 * What every `Cluster` does, wherever it runs. The same calls give the same answers in process, over HTTPS, and on a real
 * Kubernetes.
 */
export function clusterContract(name: string, open: () => Promise<World>): void {
  describe(`the cluster contract: ${name}`, () => {
    let world: World | undefined;
    const theWorld = (): World => {
      if (world === undefined) throw new Error('the world is not open');
      return world;
    };

    beforeAll(async () => {
      world = await open();
    }, 120_000);
    afterAll(async () => {
      await world?.close();
    });

    writeContract(theWorld);
    patchContract(theWorld);
    listContract(theWorld);
    watchContract(theWorld);
    deletionContract(theWorld);
    subresourceContract(theWorld);
    rulesContract(theWorld);
    concurrencyContract(theWorld);
  });
}

import { afterAll, beforeAll, describe } from 'vitest';
import { concurrencyContract } from './contract-concurrency.ts';
import { deletionContract } from './contract-deletion.ts';
import type { ContractFixture } from './contract-fixture.ts';
import { listContract } from './contract-list.ts';
import { patchContract } from './contract-patch.ts';
import { rulesContract } from './contract-rules.ts';
import { subresourceContract } from './contract-subresources.ts';
import { watchContract } from './contract-watch.ts';
import { writeContract } from './contract-write.ts';

/**
 * What every `Cluster` does, wherever it runs. The same calls give the same answers in process, over HTTPS, and on a real
 * Kubernetes.
 */
export function clusterContract(name: string, open: () => Promise<ContractFixture>): void {
  describe(`the cluster contract: ${name}`, () => {
    let fixture: ContractFixture | undefined;
    const currentFixture = (): ContractFixture => {
      if (fixture === undefined) throw new Error('the fixture is not open');
      return fixture;
    };

    beforeAll(async () => {
      fixture = await open();
    }, 120_000);
    afterAll(async () => {
      await fixture?.close();
    });

    writeContract(currentFixture);
    patchContract(currentFixture);
    listContract(currentFixture);
    watchContract(currentFixture);
    deletionContract(currentFixture);
    subresourceContract(currentFixture);
    rulesContract(currentFixture);
    concurrencyContract(currentFixture);
  });
}

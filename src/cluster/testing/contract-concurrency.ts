import { describe, expect, test } from 'vitest';
import { isReason } from '../../kube/api-error.ts';
import { configMaps } from '../../kube/resources.ts';
import { type ContractFixture, freshNamespace } from './contract-fixture.ts';

export function concurrencyContract(fixture: () => ContractFixture): void {
  describe('many writers', () => {
    test('never overwrite each other', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const key = { namespace, name: 'counter' };
      await client.create({ metadata: key, data: { count: '0' } });
      const writers = 8;
      const rounds = 5;
      const increment = async () => {
        for (;;) {
          const read = await client.get(key);
          try {
            await client.update({ ...read, data: { count: String(Number(read.data?.count) + 1) } });
            return;
          } catch (error) {
            if (!isReason(error, 'Conflict')) throw error;
          }
        }
      };
      await Promise.all(
        Array.from({ length: writers }, async () => {
          for (let round = 0; round < rounds; round++) await increment();
        }),
      );
      expect((await client.get(key)).data?.count).toBe(String(writers * rounds));
    });

    test('create a name exactly once', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const attempts = Array.from({ length: 10 }, () =>
        client.create({ metadata: { namespace, name: 'one' } }),
      );
      const outcomes = await Promise.allSettled(attempts);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    test('see their own writes', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const write = async (name: string) => {
        await client.create({ metadata: { namespace, name } });
        const { items } = await client.list({ namespace });
        return items.some(({ metadata }) => metadata?.name === name);
      };
      const seen = await Promise.all(Array.from({ length: 20 }, (_, index) => write(`object-${index}`)));
      expect(seen.every(Boolean)).toBe(true);
    });
  });
}

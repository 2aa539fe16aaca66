/** Pools are neither counted twice nor not at all: the real scheduler and publisher against a driver that counts every byte. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import { persistentVolumeClaims } from '../../kube/resources.ts';
import { gib, namespace, StorageFixture } from './testing/storage-fixture.ts';

const nodeNames = ['n1', 'n2', 'n3'];

interface Step {
  readonly what: 'create' | 'delete' | 'settle';
  readonly size: number;
  readonly pick: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('create', 'create', 'create', 'delete', 'settle'),
  size: fc.integer({ min: 1, max: 6 }),
  pick: fc.nat(100),
});

/** Replays a history, and returns the sizes of the pods that wait at the end, in GiB. */
async function replay(fixture: StorageFixture, steps: readonly Step[]): Promise<readonly number[]> {
  const sizes = new Map<string, number>();
  for (const [at, { what, size, pick }] of steps.entries()) {
    const name = [...sizes.keys()][pick % Math.max(1, sizes.size)];
    if (what === 'create') {
      await fixture.podWithClaim(`pod-${at}`, `${size}Gi`);
      sizes.set(`pod-${at}`, size);
    } else if (what === 'delete' && name !== undefined) {
      sizes.delete(name);
      await fixture.deletePod(name);
      await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name });
    } else if (what === 'settle') await fixture.settle(pick * 20);
  }
  // A poll, and the longest back-off of a pod.
  await fixture.settle(70_000);
  const lines = await fixture.podLines();
  return lines
    .filter((line) => line.includes(' Pending'))
    .map((line) => sizes.get(line.split(' ')[0] ?? '') ?? 0);
}

test('no CreateVolume fails for lack of capacity, and no pod waits that would fit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 18 }), async (steps) => {
      await using fixture = await StorageFixture.central({ pools: { n1: 10, n2: 8, n3: 5 } });
      const refused: string[] = [];
      fixture.driver.beforeCall = (method, request) => {
        if (method !== 'CreateVolume') return;
        const { capacityRange, accessibilityRequirements } = request as CreateRequest;
        const [first] = accessibilityRequirements.preferred;
        const segment = Object.values(first?.segments ?? {})[0] ?? '';
        if (fixture.driver.freeIn(segment) >= capacityRange.requiredBytes) return;
        refused.push(segment);
        throw new CsiStatusError('ResourceExhausted', `${segment} is full`);
      };
      const waiting = await replay(fixture, steps);
      expect(refused, 'the scheduler chose a pool that was full').toEqual([]);
      const fits = (size: number) =>
        nodeNames.filter((name) => fixture.driver.freeIn(name) >= BigInt(size) * gib);
      expect(waiting.flatMap(fits), 'a pod waits that would fit').toEqual([]);
    }),
    { numRuns: 4, seed: 20_261_117 },
  );
});

interface CreateRequest {
  readonly capacityRange: { readonly requiredBytes: bigint };
  readonly accessibilityRequirements: {
    readonly preferred: readonly { readonly segments: Readonly<Record<string, string>> }[];
  };
}

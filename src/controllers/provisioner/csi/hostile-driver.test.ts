import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CsiProvisionerFixture, gibibyte } from './testing/csi-provisioner-fixture.ts';

interface HostileVolume {
  readonly [field: string]: unknown;
}

/** Fields of a volume that CSI forbids, or that are merely odd. */
const hostileField: fc.Arbitrary<HostileVolume> = fc.oneof(
  fc.constantFrom<HostileVolume>(
    { volumeId: '' },
    { volumeId: 'x'.repeat(100_000) },
    { capacityBytes: -1n },
    { capacityBytes: 1n },
    { capacityBytes: 2n ** 63n - 1n },
    { accessibleTopology: [] },
    { accessibleTopology: [{ segments: {} }] },
    { accessibleTopology: [{ segments: { 'not a label!': 'x' } }] },
    { volumeContext: { ['k'.repeat(5_000)]: 'v' } },
    { contentSource: { type: { case: 'snapshot', value: { snapshotId: 's' } } } },
  ),
  fc.record({ volumeId: fc.string({ maxLength: 300 }) }),
  fc.record({ capacityBytes: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
  fc.record({
    accessibleTopology: fc.array(
      fc.record({ segments: fc.dictionary(fc.string({ maxLength: 80 }), fc.string({ maxLength: 80 })) }),
      { maxLength: 3 },
    ),
  }),
);

test('a driver that breaks the rules ends no controller: an Event says why, or there is a volume', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostileField, { minLength: 1, maxLength: 3 }), async (fields) => {
      await using fixture = await CsiProvisionerFixture.start();
      fixture.driver.changeReply = (method, reply) =>
        method === 'CreateVolume'
          ? { volume: Object.assign({}, (reply as { volume: object }).volume, ...fields) }
          : reply;
      fixture.run();
      await fixture.makeClaim();
      await fixture.base.virtualTime.settle(5_000);
      const hasVolume = (await fixture.base.volumes()).length === 1;
      expect(hasVolume || (await fixture.notes()).length > 0).toBe(true);
      fixture.driver.changeReply = undefined;
      await fixture.base.virtualTime.settle(20_000);
      await fixture.provisioned();
    }),
    { numRuns: 40 },
  );
});

test.each<[string, object]>([
  ['no volume', {}],
  ['a smaller volume', { volume: { volumeId: 'wrong', capacityBytes: 1n } }],
])('after %s it tries again', async (_, reply) => {
  await using fixture = await CsiProvisionerFixture.start();
  fixture.driver.changeReply = (method, original) => (method === 'CreateVolume' ? reply : original);
  fixture.run();
  await fixture.makeClaim();
  await fixture.base.settle();
  expect(await fixture.notes()).toEqual([expect.stringContaining('CreateVolume: invalid reply: volume')]);
  expect(await fixture.base.volumes()).toEqual([]);
  fixture.driver.changeReply = undefined;
  await fixture.base.virtualTime.settle(2_000);
  await fixture.provisioned();
  expect(await fixture.isAtRest()).toBe(true);
});

test('a volume that is too small, or has not the content of its source, is deleted', async () => {
  await using fixture = await CsiProvisionerFixture.start();
  fixture.driver.changeReply = (method, reply) => {
    if (method !== 'CreateVolume' || fixture.driver.callsOf(method).length > 1) return reply;
    return { volume: { ...(reply as { volume: object }).volume, capacityBytes: gibibyte - 1n } };
  };
  fixture.run();
  await fixture.makeClaim();
  await fixture.base.virtualTime.settle(2_000);
  await fixture.provisioned();
  const methods = fixture.driver.calls.map(({ method }) => method);
  expect(methods).toEqual(['CreateVolume', 'DeleteVolume', 'CreateVolume']);
});

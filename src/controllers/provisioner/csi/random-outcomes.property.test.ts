import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CsiStatusError } from '../../../csi/csi-errors.ts';
import { annotations } from '../../../kube/well-known.ts';
import { CsiProvisionerFixture } from './testing/csi-provisioner-fixture.ts';

/** The outcome of a call of the driver. After an effect, a driver that follows CSI answers only that it is unknown. */
type CallOutcome = 'works' | 'lost reply' | 'unavailable' | 'aborted' | 'exhausted' | 'invalid' | 'internal';
type Step =
  | { readonly do: 'create' | 'delete'; readonly claim: string }
  | { readonly do: 'select'; readonly claim: string; readonly node: string | null }
  | { readonly do: 'restart' }
  | { readonly do: 'wait'; readonly ms: number };

const codes = {
  unavailable: 'Unavailable',
  aborted: 'Aborted',
  exhausted: 'ResourceExhausted',
  invalid: 'InvalidArgument',
  internal: 'Internal',
} as const;

const claim = fc.constantFrom('c1', 'c2');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('create', 'delete'), claim }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('select'),
      claim,
      node: fc.constantFrom('a1', 'b1', null),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.integer({ min: 1, max: 5_000 }) }) },
) as fc.Arbitrary<Step>;
const outcome = fc.constantFrom<CallOutcome>(
  'works',
  'lost reply',
  'unavailable',
  'aborted',
  'exhausted',
  'invalid',
  'internal',
);

/** Long enough for every retry, and for requests of an earlier process. */
const restMs = 400_000;

function decideOutcomes(fixture: CsiProvisionerFixture, outcomes: CallOutcome[]): void {
  let loses = false;
  fixture.driver.beforeCall = (_, request) => {
    const next = outcomes.shift() ?? 'works';
    loses = next === 'lost reply';
    const { name } = request as { readonly name?: string };
    const exists = [...fixture.driver.volumes.values()].some((volume) => volume.name === name);
    // A driver returns the volume that it has, so it does not refuse the request as one that cannot be met.
    if (next === 'works' || next === 'lost reply') return;
    if (exists && (next === 'exhausted' || next === 'invalid')) return;
    throw new CsiStatusError(codes[next], next);
  };
  fixture.driver.afterCall = () => {
    if (loses) throw new CsiStatusError('DeadlineExceeded', 'the reply was lost');
  };
}

async function applyPlan(fixture: CsiProvisionerFixture, one: Step): Promise<void> {
  const { base } = fixture;
  if (one.do === 'wait') await base.virtualTime.settle(one.ms);
  if (one.do === 'restart' || one.do === 'wait') return;
  const existing = await base.claim(one.claim);
  if (one.do === 'create' && existing === undefined) await fixture.makeClaim({ name: one.claim });
  if (existing === undefined) return;
  if (one.do === 'delete' && existing.metadata?.deletionTimestamp === undefined)
    await base.deleteClaim(one.claim);
  if (one.do === 'select') await base.annotate({ [annotations.selectedNode]: one.node }, one.claim);
}

test('at rest, the volumes of the driver are the PersistentVolumes, whatever the driver answered', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 12 }),
      fc.array(outcome, { maxLength: 12 }),
      async (steps, outcomes) => {
        await using fixture = await CsiProvisionerFixture.start({ settings: { strictTopology: true } });
        decideOutcomes(fixture, [...outcomes]);
        let run = fixture.run();
        for (const one of steps) {
          if (one.do === 'restart') {
            await run.close();
            run = fixture.run();
          }
          await applyPlan(fixture, one);
        }
        fixture.driver.beforeCall = undefined;
        fixture.driver.afterCall = undefined;
        for (let round = 0; round < 3; round++) {
          await fixture.base.virtualTime.settle(restMs);
          await fixture.base.finishOtherControllersWork();
        }
        expect(await fixture.isAtRest()).toBe(true);
        for (const { spec, metadata } of await fixture.base.volumes())
          expect(metadata?.name, 'each claim has one volume').toBe(`pvc-${spec?.claimRef?.uid}`);
      },
    ),
    { numRuns: 40 },
  );
});

import { describe, expect, test } from 'vitest';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../../cluster/testing/fault-hooks.ts';
import { CsiStatusError } from '../../../csi/csi-errors.ts';
import type { CsiRequest } from '../../../csi/csi-methods.ts';
import { csiNodes, nodes, storageClasses } from '../../../kube/resources.ts';
import { annotations } from '../../../kube/well-known.ts';
import { CsiProvisionerFixture } from './testing/csi-provisioner-fixture.ts';

/** After this time no request of the process that crashed can arrive any more. */
const quietMs = 80_000;
/** More calls and writes than any of these scenarios takes. */
const stepsMax = 30;

interface CrashScenario {
  /** Changes while the controller is stopped. */
  readonly meanwhile?: (fixture: CsiProvisionerFixture) => Promise<unknown>;
  /** How many volumes there are in the end. */
  readonly volumes: number;
}

const deleteClaim = async ({ base }: CsiProvisionerFixture) => base.deleteClaim();

const scenarios: Readonly<Record<string, CrashScenario>> = {
  'without further changes': { volumes: 1 },
  'and the claim is deleted meanwhile': { meanwhile: deleteClaim, volumes: 0 },
  'and another node is selected meanwhile': {
    meanwhile: ({ base }) => base.annotate({ [annotations.selectedNode]: 'b1' }),
    volumes: 1,
  },
  'and the node is deleted meanwhile': {
    meanwhile: async ({ base }) => {
      await base.cluster.resource(nodes).delete({ name: 'a1' });
      await base.cluster.resource(csiNodes).delete({ name: 'a1' });
      // Acts as the scheduler once the provisioner has removed the node.
      await base.annotate({ [annotations.selectedNode]: 'b1' });
    },
    volumes: 1,
  },
};

/** Runs the controller again until the volumes of driver and cluster are the same, and checks that this stays so. */
async function finish(fixture: CsiProvisionerFixture, { volumes }: CrashScenario): Promise<void> {
  fixture.driver.beforeCall = undefined;
  fixture.driver.afterCall = undefined;
  fixture.run();
  await fixture.base.virtualTime.settle(quietMs);
  const isDone = async () => {
    await fixture.base.finishOtherControllersWork();
    return (await fixture.isAtRest()) && fixture.driver.volumes.size === volumes;
  };
  await fixture.base.until(isDone);
  await fixture.base.virtualTime.settle();
  expect(await isDone()).toBe(true);
}

/** The process ends at a call of the driver, before or after its effect. Returns whether there was such a call. */
async function crashAtCall(number: number, when: 'beforeCall' | 'afterCall', scenario: CrashScenario) {
  await using fixture = await CsiProvisionerFixture.start();
  let calls = 0;
  let endCall = () => {};
  fixture.driver[when] = async () => {
    calls += 1;
    if (calls < number) return;
    await new Promise<void>((_, reject) => {
      endCall = () => reject(new CsiStatusError('Canceled', 'the process has ended'));
    });
  };
  const first = fixture.run();
  await fixture.makeClaim();
  await fixture.base.virtualTime.settle();
  const closing = first.close();
  endCall();
  await closing;
  await scenario.meanwhile?.(fixture);
  await finish(fixture, scenario);
  return calls >= number;
}

async function crashAfterWrite(writes: number, scenario: CrashScenario): Promise<boolean> {
  await using fixture = await CsiProvisionerFixture.start();
  const crash = new CrashAfterWrites(writes);
  const crashing = new InterceptedCluster(fixture.base.cluster, crash);
  await fixture.makeClaim();
  const first = fixture.base.virtualTime.run(fixture.controllers, crashing);
  await fixture.base.virtualTime.settle();
  await first.close();
  const hasDied = crash.hasCrashed;
  await scenario.meanwhile?.(fixture);
  await finish(fixture, scenario);
  return hasDied;
}

async function each(step: (number: number) => Promise<boolean>): Promise<number> {
  for (let number = 1; number <= stepsMax; number++) if (!(await step(number))) return number - 1;
  throw new Error('it never ended');
}

describe.each(Object.entries(scenarios))('it crashes %s', (_, scenario) => {
  test('before and after any call of the driver', async () => {
    expect(await each((number) => crashAtCall(number, 'beforeCall', scenario))).toBe(1);
    expect(await each((number) => crashAtCall(number, 'afterCall', scenario))).toBe(1);
  });

  test('after any write', async () => {
    expect(await each((number) => crashAfterWrite(number, scenario))).toBeGreaterThanOrEqual(3);
  });
});

test('it crashes at any call and write of a deletion: nothing is left', async () => {
  const step = async (number: number, isCall: boolean) => {
    await using fixture = await CsiProvisionerFixture.start();
    const before = fixture.run();
    await fixture.makeClaim();
    await fixture.provisioned();
    await before.close();
    await fixture.base.deleteClaim();
    await fixture.base.finishOtherControllersWork();
    const crash = new CrashAfterWrites(isCall ? Number.POSITIVE_INFINITY : number);
    let calls = 0;
    fixture.driver.afterCall = () => {
      calls += 1;
      if (isCall && calls === number) throw new CsiStatusError('DeadlineExceeded', 'the reply was lost');
    };
    const crashing = new InterceptedCluster(fixture.base.cluster, crash);
    const run = fixture.base.virtualTime.run(fixture.controllers, crashing);
    await fixture.base.virtualTime.settle();
    await run.close();
    await finish(fixture, { volumes: 0 });
    return isCall ? calls >= number : crash.hasCrashed;
  };
  expect(await each((number) => step(number, true))).toBe(1);
  expect(await each((number) => step(number, false))).toBeGreaterThanOrEqual(2);
});

test('a repetition after a restart has the same arguments, whatever has happened to nodes', async () => {
  await using fixture = await CsiProvisionerFixture.start();
  fixture.driver.afterCall = () => {
    throw new CsiStatusError('DeadlineExceeded', 'the reply was lost');
  };
  const first = fixture.run();
  await fixture.makeClaim();
  await fixture.base.virtualTime.settle(1_500);
  await first.close();
  await fixture.base.cluster.resource(csiNodes).delete({ name: 'a2' });
  await finish(fixture, { volumes: 1 });
  const [sent, ...repeated] = fixture.driver.callsOf('CreateVolume') as CsiRequest<'CreateVolume'>[];
  expect(sent?.accessibilityRequirements?.requisite).toHaveLength(3);
  expect(repeated.length).toBeGreaterThanOrEqual(2);
  for (const request of repeated) expect(request).toEqual(sent);
});

test('a reply that was lost leaves nothing when the claim and the class are deleted', async () => {
  await using fixture = await CsiProvisionerFixture.start();
  fixture.driver.afterCall = () => {
    throw new CsiStatusError('DeadlineExceeded', 'the reply was lost');
  };
  const first = fixture.run();
  await fixture.makeClaim();
  await fixture.base.settle();
  await first.close();
  fixture.driver.afterCall = undefined;
  await fixture.base.cluster.resource(storageClasses).delete({ name: 'standard' });
  await fixture.base.deleteClaim();
  fixture.run();
  await fixture.base.until(async () => (await fixture.base.claim()) === undefined);
  expect(fixture.driver.volumes.size).toBe(0);
});

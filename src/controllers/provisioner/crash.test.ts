import { describe, expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import { nodes } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { intentFinalizer, intentOf } from './intent.ts';
import { provisionerController } from './provisioner-controller.ts';
import { FakeDiskDriver } from './testing/fake-disk-driver.ts';
import { classOf } from './testing/objects.ts';
import { ProvisionerFixture } from './testing/provisioner-fixture.ts';

const provisioner = 'disk.example.com';
/** More writes than any of these scenarios takes. */
const writesMax = 30;
/** After this time no request of the process that crashed can arrive any more. */
const quietMs = 80_000;

interface CrashScenario {
  /** The state before the controller runs for the first time. */
  readonly before?: (fixture: ProvisionerFixture, disks: FakeDiskDriver) => Promise<void>;
  /** Changes while the controller is stopped. */
  readonly meanwhile?: (fixture: ProvisionerFixture) => Promise<void>;
  readonly after: (fixture: ProvisionerFixture, disks: FakeDiskDriver) => Promise<boolean>;
}

function controllersOn(disks: FakeDiskDriver) {
  return [provisionerController({ provisioners: [disks.provisioner] })];
}

async function ready(scenario: CrashScenario, disks: FakeDiskDriver): Promise<ProvisionerFixture> {
  const fixture = await ProvisionerFixture.start([], classOf({ provisioner }));
  await fixture.makeClaim({ node: 'a1', provisioner });
  await scenario.before?.(fixture, disks);
  return fixture;
}

/** Runs the controller again, and does the work of the others, until the scenario has ended. */
async function finish(
  fixture: ProvisionerFixture,
  disks: FakeDiskDriver,
  scenario: CrashScenario,
): Promise<void> {
  disks.fault = 'none';
  fixture.virtualTime.run(controllersOn(disks));
  await fixture.virtualTime.settle(quietMs);
  await fixture.until(async () => {
    await fixture.finishOtherControllersWork();
    return await scenario.after(fixture, disks);
  });
  // And the state stays.
  await fixture.virtualTime.settle();
  expect(await scenario.after(fixture, disks)).toBe(true);
}

/** Crashes after so many writes; returns whether there were so many. */
async function crashAfter(writes: number, scenario: CrashScenario): Promise<boolean> {
  const disks = new FakeDiskDriver();
  await using fixture = await ready(scenario, disks);
  const crash = new CrashAfterWrites(writes);
  const crashing = new InterceptedCluster(fixture.cluster, crash);
  const first = fixture.virtualTime.run(controllersOn(disks), crashing);
  await fixture.virtualTime.settle();
  await first.close();
  const hasDied = crash.hasCrashed;
  await scenario.meanwhile?.(fixture);
  await finish(fixture, disks, scenario);
  return hasDied;
}

async function crashAfterEachWrite(scenario: CrashScenario): Promise<number> {
  for (let writes = 1; writes <= writesMax; writes++)
    if (!(await crashAfter(writes, scenario))) return writes - 1;
  throw new Error('it never ended');
}

/** Crashes after the disk was created and before the volume. */
async function crashBetweenDiskAndVolume(scenario: CrashScenario): Promise<void> {
  const disks = new FakeDiskDriver();
  await using fixture = await ready(scenario, disks);
  disks.fault = 'hangs';
  const first = fixture.virtualTime.run(controllersOn(disks));
  let isHanging = false;
  void disks.hanging.then(() => {
    isHanging = true;
  });
  await fixture.until(() => isHanging);
  await first.close();
  expect(disks.disks.size).toBe(1);
  expect(await fixture.volumes()).toEqual([]);
  await scenario.meanwhile?.(fixture);
  await finish(fixture, disks, scenario);
}

async function isServed(fixture: ProvisionerFixture, disks: FakeDiskDriver): Promise<boolean> {
  const [claim, volumes] = [await fixture.claim(), await fixture.volumes()];
  const isNoted = claim === undefined || intentOf(claim) !== undefined;
  return !isNoted && volumes.length === 1 && [...disks.disks.keys()].join() === volumes[0]?.metadata?.name;
}

async function isAllGone(fixture: ProvisionerFixture, disks: FakeDiskDriver): Promise<boolean> {
  return (
    (await fixture.claim()) === undefined && (await fixture.volumes()).length === 0 && disks.disks.size === 0
  );
}

async function nothingMade(fixture: ProvisionerFixture, disks: FakeDiskDriver): Promise<boolean> {
  const claim = await fixture.claim();
  return claim !== undefined && intentOf(claim) === undefined && disks.disks.size === 0;
}

const scenarios: Readonly<Record<string, CrashScenario>> = {
  'without further changes: one volume, one disk': { after: isServed },
  'and the claim is deleted meanwhile: nothing is left': {
    meanwhile: (fixture) => fixture.deleteClaim(),
    after: isAllGone,
  },
  'and another node is selected meanwhile: one volume, one disk, on the same node': {
    meanwhile: (fixture) => fixture.annotate({ [annotations.selectedNode]: 'b1' }),
    after: async (fixture, disks) => {
      if (!(await isServed(fixture, disks))) return false;
      const [volume] = await fixture.volumes();
      const values =
        volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms?.[0]?.matchExpressions?.[0]?.values;
      return values?.join() === [...disks.disks.values()].join();
    },
  },
};

describe.each(Object.entries(scenarios))('it crashes %s', (_, scenario) => {
  test('after any write', async () => {
    expect(await crashAfterEachWrite(scenario)).toBeGreaterThanOrEqual(3);
  });

  test('between the disk and the volume', async () => {
    await crashBetweenDiskAndVolume(scenario);
  });
});

test('it crashes between the disk and the volume, and the selected node is removed: the disk is deleted', async () => {
  await crashBetweenDiskAndVolume({
    meanwhile: (fixture) => fixture.annotate({ [annotations.selectedNode]: null }),
    after: nothingMade,
  });
});

test('it crashes between the disk and the volume, and the node is deleted: the disk is deleted, and another node is requested', async () => {
  await crashBetweenDiskAndVolume({
    meanwhile: async ({ cluster }) => {
      await cluster.resource(nodes).delete({ name: 'a1' });
    },
    after: async (fixture, disks) =>
      (await nothingMade(fixture, disks)) &&
      (await fixture.claim())?.metadata?.annotations?.[annotations.selectedNode] === undefined,
  });
});

test('it crashes after any write of a deletion: volume and disk are deleted', async () => {
  const crashes = await crashAfterEachWrite({
    before: async (fixture, disks) => {
      const run = fixture.virtualTime.run(controllersOn(disks));
      await fixture.until(() => isServed(fixture, disks));
      await run.close();
      await fixture.deleteClaim();
      await fixture.finishOtherControllersWork();
    },
    after: isAllGone,
  });
  expect(crashes).toBeGreaterThanOrEqual(2);
});

test('a claim that is deleted while its disk is being created leaves nothing', async () => {
  const disks = new FakeDiskDriver();
  await using fixture = await ready({ after: isAllGone }, disks);
  disks.fault = 'hangs';
  const first = fixture.virtualTime.run(controllersOn(disks));
  await fixture.until(() => disks.disks.size === 1);
  await fixture.deleteClaim();
  // It cannot be removed: its disk is still being created.
  expect((await fixture.claim())?.metadata?.finalizers).toEqual([intentFinalizer]);
  await first.close();
  await finish(fixture, disks, { after: isAllGone });
});

test('after an unknown outcome it retries, on the same node', async () => {
  const disks = new FakeDiskDriver();
  await using fixture = await ready({ after: isServed }, disks);
  disks.fault = 'throws';
  fixture.virtualTime.run(controllersOn(disks));
  await fixture.virtualTime.settle();
  expect((await fixture.claim())?.metadata?.annotations?.[annotations.selectedNode]).toBe('a1');
  expect(await fixture.virtualTime.eventLines()).toContain(
    'ProvisioningFailed data: failed to provision volume with StorageClass "standard": connection reset',
  );
  disks.fault = 'none';
  await fixture.until(() => isServed(fixture, disks));
});

test('after a definite failure it requests another node', async () => {
  const disks = new FakeDiskDriver();
  await using fixture = await ready({ after: nothingMade }, disks);
  disks.fault = 'refuses';
  fixture.virtualTime.run(controllersOn(disks));
  await fixture.until(
    async () => (await fixture.claim())?.metadata?.annotations?.[annotations.selectedNode] === undefined,
  );
  expect(await nothingMade(fixture, disks)).toBe(true);
});

test('two at once create one volume for each claim, and delete each once released', async () => {
  const disks = new FakeDiskDriver();
  await using fixture = await ProvisionerFixture.start([], classOf({ provisioner }));
  const names = Array.from({ length: 12 }, (_, index) => `data-${index}`);
  for (const name of names) await fixture.makeClaim({ name, node: 'a1', provisioner });
  for (let round = 0; round < 2; round++) fixture.virtualTime.run(controllersOn(disks));
  const hasIntents = async () => {
    const claims = await Promise.all(names.map((name) => fixture.claim(name)));
    return claims.some((claim) => claim !== undefined && intentOf(claim) !== undefined);
  };
  await fixture.until(async () => (await fixture.volumes()).length === names.length && !(await hasIntents()));
  expect([...disks.disks.keys()].sort()).toEqual(
    (await fixture.volumes()).map(({ metadata }) => metadata?.name).sort(),
  );
  for (const name of names) await fixture.deleteClaim(name);
  await fixture.until(async () => {
    await fixture.finishOtherControllersWork();
    return (await fixture.volumes()).length === 0;
  });
  expect(disks.disks.size).toBe(0);
});

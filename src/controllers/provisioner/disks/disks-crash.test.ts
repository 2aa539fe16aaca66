import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../../cluster/testing/fault-hooks.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { replicas } from '../../../kube/stowage/replica.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { DiskClaimsFixture, diskClaimControllers, prepareDiskClaims } from './testing/disk-claims-fixture.ts';

/** A later process waits 75 s before it undoes anything; a retry may follow. */
const undoneMs = 90_000;
const settledMs = 15_000;

const isCrashing = ({ name }: { readonly name: string }) =>
  ['provisioner', 'disks', 'expander'].includes(name);
const crashing = diskClaimControllers().filter(isCrashing);
const others = diskClaimControllers().filter((controller) => !isCrashing(controller));

/** A cluster in which all other controllers run. */
async function start(): Promise<DiskClaimsFixture> {
  const environment = await VirtualTimeCluster.start();
  await prepareDiskClaims(environment, { limits: [100, 100] });
  environment.run(others);
  return DiskClaimsFixture.on(environment);
}

/** Runs the controllers until they have written so much. False if they had less to write. */
async function crashAfter({ environment }: DiskClaimsFixture, writes: number): Promise<boolean> {
  const crash = new CrashAfterWrites(writes);
  const run = environment.run(crashing, new InterceptedCluster(environment.cluster, crash));
  await environment.settle(settledMs);
  await run.close();
  return crash.hasCrashed;
}

async function remove(fixture: DiskClaimsFixture): Promise<void> {
  await fixture.deletePod('app');
  await fixture.deleteClaim('app-0');
}

/** For a number of writes after which the controllers crash: whether they had so many. */
type CrashRound = (fixture: DiskClaimsFixture, writes: number) => Promise<boolean>;

const rounds: readonly (readonly [name: string, round: CrashRound])[] = [
  [
    'leaves one Volume, two replicas and a running pod',
    async (fixture, writes) => {
      await fixture.addPod('app', 40);
      const hasCrashed = await crashAfter(fixture, writes);
      const run = fixture.environment.run(crashing);
      await fixture.settle(settledMs);
      expect(await fixture.phases()).toEqual(['app Running']);
      expect(await fixture.granted()).toEqual([40, 40]);
      expect((await fixture.cluster.resource(diskVolumes).list()).items).toHaveLength(1);
      expect((await fixture.cluster.resource(replicas).list()).items).toHaveLength(2);
      await remove(fixture);
      await fixture.settle(settledMs);
      await run.close();
      return hasCrashed;
    },
  ],
  [
    'and the deletion of the claim leave nothing',
    async (fixture, writes) => {
      await fixture.addPod('app', 40);
      const hasCrashed = await crashAfter(fixture, writes);
      await remove(fixture);
      const run = fixture.environment.run(crashing);
      await fixture.settle(undoneMs);
      await run.close();
      return hasCrashed;
    },
  ],
  [
    'of the deletion leaves nothing',
    async (fixture, writes) => {
      await fixture.addPod('app', 40);
      const first = fixture.environment.run(crashing);
      await fixture.settle(settledMs);
      await first.close();
      await remove(fixture);
      const hasCrashed = await crashAfter(fixture, writes);
      const run = fixture.environment.run(crashing);
      await fixture.settle(settledMs);
      await run.close();
      return hasCrashed;
    },
  ],
  [
    'of an expansion does not prevent it',
    async (fixture, writes) => {
      await fixture.addPod('app', 40);
      const first = fixture.environment.run(crashing);
      await fixture.settle(settledMs);
      await first.close();
      await fixture.request('app-0', 60);
      const hasCrashed = await crashAfter(fixture, writes);
      const run = fixture.environment.run(crashing);
      await fixture.settle(settledMs);
      expect((await fixture.claim('app-0')).status?.capacity).toEqual({ storage: '60' });
      expect(await fixture.granted()).toEqual([60, 60]);
      await remove(fixture);
      await fixture.settle(settledMs);
      await run.close();
      return hasCrashed;
    },
  ],
];

test.each(rounds)('a crash after any write %s', { timeout: 300_000 }, async (_name, round) => {
  const fixture = await start();
  await using _ = fixture.environment;
  let writes = 1;
  for (let hasCrashed = true; hasCrashed; writes += 1) {
    hasCrashed = await round(fixture, writes);
    await fixture.expectEmpty();
    expect((await fixture.cluster.resource(persistentVolumeClaims).list()).items).toEqual([]);
    expect((await fixture.cluster.resource(persistentVolumes).list()).items).toEqual([]);
  }
  expect(writes).toBeGreaterThan(5);
});

import { expect, test } from 'vitest';
import { persistentVolumeClaims, persistentVolumes, pods, volumeAttachments } from '../../kube/resources.ts';
import { classOf } from '../provisioner/testing/objects.ts';
import { type CrashPlan, crashControllersAtEveryWrite } from '../testing/crash-at-every-write.ts';
import { controllersWithScheduler, LifecycleFixture } from './testing/lifecycle-fixture.ts';

/** One node: with several equally good ones, runs may choose different nodes. */
const nodes = ['b1 b r1'];
const classes = [classOf({ allowVolumeExpansion: true })];
const resources = [persistentVolumeClaims, persistentVolumes, pods] as CrashPlan['resources'];
/** Longer than the grace of a pod and the back-off after a few failures. */
const settleMs = 20_000;

async function prepareAsked(fixture: LifecycleFixture): Promise<void> {
  await fixture.seed({ classes, nodes });
  await fixture.makeClaim();
  await fixture.makePod('web', ['data']);
}

async function prepareRunning(fixture: LifecycleFixture): Promise<void> {
  await prepareAsked(fixture);
  fixture.resume(controllersWithScheduler());
  await fixture.settle();
  await fixture.pause();
  expect(await fixture.lines()).toEqual([
    'claim data Bound',
    'pod web Running on b1',
    'volume for data Bound',
  ]);
}

interface Flow {
  readonly what: string;
  readonly prepare: (fixture: LifecycleFixture) => Promise<void>;
  readonly placesMin: number;
  readonly leavesNothing?: boolean;
}

const flows: readonly Flow[] = [
  { what: 'from a claim and a pod to a running pod', prepare: prepareAsked, placesMin: 15 },
  {
    what: 'from a deleted pod and claim to nothing',
    prepare: async (fixture) => {
      await prepareRunning(fixture);
      await fixture.deletePod('web');
      await fixture.deleteClaim('data');
    },
    placesMin: 6,
    leavesNothing: true,
  },
  {
    what: 'from a claim that requests more to a file system of that size',
    prepare: async (fixture) => {
      await prepareRunning(fixture);
      await fixture.grow('data', '3Gi');
    },
    placesMin: 6,
  },
];

test.each(flows)('crashing after any single write changes nothing: $what', async (flow) => {
  const places = await crashControllersAtEveryWrite({
    controllers: controllersWithScheduler(),
    prepare: (fixture) => flow.prepare(new LifecycleFixture(fixture)),
    // Attachments are named after a uid, so they can be compared only if none is left.
    resources: flow.leavesNothing ? [...resources, volumeAttachments] : resources,
    settleMs,
  });
  expect(places).toBeGreaterThanOrEqual(flow.placesMin);
});

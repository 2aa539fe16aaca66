import { expect, test } from 'vitest';
import { persistentVolumeClaims, persistentVolumes, pods, volumeAttachments } from '../../kube/resources.ts';
import { classOf } from '../provisioner/testing/objects.ts';
import { type CrashPlan, crashEverywhere } from '../testing/crash-everywhere.ts';
import { Life, withScheduler } from './testing/life.ts';

/** One node: of several that are as good as each other, another run may take another. */
const nodes = ['b1 b r1'];
const classes = [classOf({ allowVolumeExpansion: true })];
const resources = [persistentVolumeClaims, persistentVolumes, pods] as CrashPlan['resources'];
/** Longer than the grace of a pod and the back-off after a few failures. */
const settleMs = 20_000;

async function prepareAsked(life: Life): Promise<void> {
  await life.furnish({ classes, nodes });
  await life.makeClaim();
  await life.makePod('web', ['data']);
}

async function prepareRunning(life: Life): Promise<void> {
  await prepareAsked(life);
  life.resume(withScheduler());
  await life.settle();
  await life.pause();
  expect(await life.lines()).toEqual(['claim data Bound', 'pod web Running on b1', 'volume for data Bound']);
}

interface Flow {
  readonly what: string;
  readonly prepare: (life: Life) => Promise<void>;
  readonly placesMin: number;
  readonly leavesNothing?: boolean;
}

const flows: readonly Flow[] = [
  { what: 'from a claim and a pod to a pod that runs', prepare: prepareAsked, placesMin: 15 },
  {
    what: 'from a pod and a claim that are deleted to nothing',
    prepare: async (life) => {
      await prepareRunning(life);
      await life.deletePod('web');
      await life.deleteClaim('data');
    },
    placesMin: 6,
    leavesNothing: true,
  },
  {
    what: 'from a claim that asks for more to a file system that has it',
    prepare: async (life) => {
      await prepareRunning(life);
      await life.grow('data', '3Gi');
    },
    placesMin: 6,
  },
];

test.each(flows)('dying after any single write changes nothing: $what', async (flow) => {
  const places = await crashEverywhere({
    controllers: withScheduler(),
    prepare: (trial) => flow.prepare(new Life(trial)),
    // Attachments are named after a uid, so that they can only be compared where none is left.
    resources: flow.leavesNothing ? [...resources, volumeAttachments] : resources,
    settleMs,
  });
  expect(places).toBeGreaterThanOrEqual(flow.placesMin);
});

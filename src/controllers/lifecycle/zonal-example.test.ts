import { expect, test } from 'vitest';
import { labels } from '../../kube/well-known.ts';
import { classOf } from '../provisioner/testing/objects.ts';
import { Life, withScheduler } from './testing/life.ts';

test('a zonal volume is made where its first consumer goes, serves it, and goes with its claim', async () => {
  await using life = await Life.start({ controllers: withScheduler() });
  // 3. The user makes a claim. It waits.
  await life.makeClaim();
  await life.settle();
  expect(await life.lines()).toEqual(['claim data Pending']);
  expect(await life.toldOf('data')).toEqual([
    'WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ]);
  // 4. The user makes a pod that can only run in zone b.
  await life.makePod('web', ['data'], { nodeSelector: { [labels.zone]: 'b' } });
  await life.settle();
  // 5. The scheduler picked a node. 6. A volume was made that can be reached from there.
  expect(await life.selectedNode()).toBe('b1');
  expect(await life.placesOf()).toEqual(['zone=b']);
  // 7. The pod was scheduled to the node, and runs.
  expect(await life.lines()).toEqual(['claim data Bound', 'pod web Running on b1', 'volume for data Bound']);
  expect(await life.mark()).toMatch(/^b1\//);
  // The claim stays as long as its pod, and the volume as long as the claim.
  await life.deleteClaim('data');
  await life.settle();
  expect(await life.lines()).toHaveLength(3);
  await life.deletePod('web');
  await life.settle();
  expect(await life.lines()).toEqual([]);
  life.expectNoTroubles();
});

test('a claim whose pod was there first is told that the pod has to be scheduled', async () => {
  await using life = await Life.start();
  await life.makePod('web', ['data']);
  await life.makeClaim();
  await life.settle();
  expect(await life.toldOf('data')).toEqual(['WaitForPodScheduled: waiting for pod web to be scheduled']);
});

test('events tell the whole story of a volume', async () => {
  await using life = await Life.start({ controllers: withScheduler() });
  await life.makeClaim();
  await life.makePod('web', ['data']);
  await life.settle();
  const { volumeName } = (await life.claim()).spec ?? {};
  expect(await life.toldOf('data')).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^ExternalProvisioning: Waiting for a volume to be created/),
      'Provisioning: External provisioner is provisioning volume for claim "default/data"',
      `ProvisioningSucceeded: Successfully provisioned volume ${volumeName}`,
    ]),
  );
  const told = await life.toldOf('web');
  expect(told).toContainEqual(expect.stringMatching(/^Scheduled: Successfully assigned default\/web to /));
  expect(told).toContain(`SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "${volumeName}" `);
});

test('with the policy Retain the volume outlives its claim, Released', async () => {
  await using life = await Life.start({ classes: [classOf({ reclaimPolicy: 'Retain' })] });
  await life.makeClaim();
  await life.selectNode('data', 'a1');
  await life.settle();
  await life.deleteClaim('data');
  await life.settle();
  expect(await life.lines()).toEqual(['volume for data Released']);
});

test('a pod on a node outside the zone of its volume does not run, and says why', async () => {
  await using life = await Life.start();
  await life.makeClaim();
  await life.makePod('web', ['data']);
  await life.selectNode('data', 'a1');
  await life.settle();
  await life.bindPod('web', 'b1');
  await life.settle();
  expect(await life.lines()).toContain('pod web Pending on b1');
  const { volumeName } = (await life.claim()).spec ?? {};
  expect(await life.toldOf('web')).toEqual([
    `FailedMount: MountVolume.NodeAffinity check failed for volume "${volumeName}" : no matching NodeSelectorTerms`,
  ]);
  expect(await life.mark()).toBeUndefined();
});

import { expect, test } from 'vitest';
import { labels } from '../../kube/well-known.ts';
import { classOf } from '../provisioner/testing/objects.ts';
import { controllersWithScheduler, LifecycleFixture } from './testing/lifecycle-fixture.ts';

test('a zonal volume is created where its first consumer goes, serves it, and is deleted with its claim', async () => {
  await using fixture = await LifecycleFixture.start({ controllers: controllersWithScheduler() });
  // 3. The user creates a claim. It waits.
  await fixture.makeClaim();
  await fixture.settle();
  expect(await fixture.lines()).toEqual(['claim data Pending']);
  expect(await fixture.eventsOf('data')).toEqual([
    'WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ]);
  // 4. The user creates a pod that can only run in zone b.
  await fixture.makePod('web', ['data'], { nodeSelector: { [labels.zone]: 'b' } });
  await fixture.settle();
  // 5. The scheduler chose a node. 6. A volume was created that can be reached from there.
  expect(await fixture.selectedNode()).toBe('b1');
  expect(await fixture.placesOf()).toEqual(['zone=b']);
  // 7. The pod was scheduled to the node, and runs.
  expect(await fixture.lines()).toEqual([
    'claim data Bound',
    'pod web Running on b1',
    'volume for data Bound',
  ]);
  expect(await fixture.mark()).toMatch(/^b1\//);
  // The claim stays as long as its pod, and the volume as long as the claim.
  await fixture.deleteClaim('data');
  await fixture.settle();
  expect(await fixture.lines()).toHaveLength(3);
  await fixture.deletePod('web');
  await fixture.settle();
  expect(await fixture.lines()).toEqual([]);
  fixture.expectNoErrors();
});

test('a claim with an existing pod gets the Event that the pod has to be scheduled', async () => {
  await using fixture = await LifecycleFixture.start();
  await fixture.makePod('web', ['data']);
  await fixture.makeClaim();
  await fixture.settle();
  expect(await fixture.eventsOf('data')).toEqual([
    'WaitForPodScheduled: waiting for pod web to be scheduled',
  ]);
});

test('Events describe the whole lifecycle of a volume', async () => {
  await using fixture = await LifecycleFixture.start({ controllers: controllersWithScheduler() });
  await fixture.makeClaim();
  await fixture.makePod('web', ['data']);
  await fixture.settle();
  const { volumeName } = (await fixture.claim()).spec ?? {};
  expect(await fixture.eventsOf('data')).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^ExternalProvisioning: Waiting for a volume to be created/),
      'Provisioning: External provisioner is provisioning volume for claim "default/data"',
      `ProvisioningSucceeded: Successfully provisioned volume ${volumeName}`,
    ]),
  );
  const events = await fixture.eventsOf('web');
  expect(events).toContainEqual(expect.stringMatching(/^Scheduled: Successfully assigned default\/web to /));
  expect(events).toContain(
    `SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "${volumeName}" `,
  );
});

test('with the policy Retain the volume outlives its claim, Released', async () => {
  await using fixture = await LifecycleFixture.start({ classes: [classOf({ reclaimPolicy: 'Retain' })] });
  await fixture.makeClaim();
  await fixture.selectNode('data', 'a1');
  await fixture.settle();
  await fixture.deleteClaim('data');
  await fixture.settle();
  expect(await fixture.lines()).toEqual(['volume for data Released']);
});

test('a pod on a node outside the zone of its volume does not run, and an Event gives the reason', async () => {
  await using fixture = await LifecycleFixture.start();
  fixture.virtualTime.versions.isPaused = true;
  await fixture.makeClaim();
  await fixture.makePod('web', ['data']);
  await fixture.selectNode('data', 'a1');
  await fixture.settle();
  await fixture.bindPod('web', 'b1');
  await fixture.settle();
  expect(await fixture.lines()).toContain('pod web Pending on b1');
  const { volumeName } = (await fixture.claim()).spec ?? {};
  expect(await fixture.eventsOf('web')).toEqual([
    `FailedMount: MountVolume.NodeAffinity check failed for volume "${volumeName}" : no matching NodeSelectorTerms`,
  ]);
  expect(await fixture.mark()).toBeUndefined();
});

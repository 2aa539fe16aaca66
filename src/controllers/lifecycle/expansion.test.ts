import { expect, test } from 'vitest';
import { classOf } from '../provisioner/testing/objects.ts';
import { LifecycleFixture } from './testing/lifecycle-fixture.ts';

const classes = [classOf({ allowVolumeExpansion: true })];

async function startBound(given = classes): Promise<LifecycleFixture> {
  const fixture = await LifecycleFixture.start({ classes: given });
  await fixture.makeClaim();
  await fixture.makePod('web', ['data']);
  await fixture.selectNode('data', 'a1');
  await fixture.settle();
  return fixture;
}

async function sizes(fixture: LifecycleFixture) {
  const { spec, status } = await fixture.claim();
  const volume = await fixture.volume(spec?.volumeName ?? '');
  return {
    volume: volume.spec?.capacity?.storage,
    claim: status?.capacity?.storage,
    conditions: (status?.conditions ?? []).map(({ type }) => type),
  };
}

test('a claim in use expands, from the volume to the file system', async () => {
  await using fixture = await startBound();
  await fixture.bindPod('web', 'a1');
  await fixture.settle();
  await fixture.grow('data', '3Gi');
  await fixture.settle();
  expect(await sizes(fixture)).toEqual({ volume: '3Gi', claim: '3Gi', conditions: [] });
  const reasons = (await fixture.eventsOf('data')).map((line) => line.split(':')[0]);
  expect(reasons).toEqual(expect.arrayContaining(['FileSystemResizeRequired', 'FileSystemResizeSuccessful']));
  expect(await fixture.lines()).toContain('pod web Running on a1');
  fixture.expectNoErrors();
});

test('an unused claim waits for a node, and expands with its next pod', async () => {
  await using fixture = await startBound();
  await fixture.grow('data', '3Gi');
  await fixture.settle();
  const { conditions, ...rest } = await sizes(fixture);
  expect(rest).toEqual({ volume: '3Gi', claim: '1Gi' });
  expect(conditions).toContain('FileSystemResizePending');
  await fixture.bindPod('web', 'a1');
  await fixture.settle();
  expect(await sizes(fixture)).toEqual({ volume: '3Gi', claim: '3Gi', conditions: [] });
});

test('an unbound claim cannot expand', async () => {
  await using fixture = await LifecycleFixture.start({ classes });
  await fixture.makeClaim();
  await fixture.settle();
  // The server does not accept another request for an unbound claim.
  await expect(fixture.grow('data', '3Gi')).rejects.toMatchObject({ reason: 'Invalid' });
  await fixture.selectNode('data', 'a1');
  await fixture.settle();
  expect(await sizes(fixture)).toEqual({ volume: '1Gi', claim: '1Gi', conditions: [] });
});

test('a class that does not allow expansion leaves the claim unchanged', async () => {
  await using fixture = await startBound([classOf()]);
  await expect(fixture.grow('data', '3Gi')).rejects.toMatchObject({ code: 403 });
  await fixture.settle();
  expect(await sizes(fixture)).toEqual({ volume: '1Gi', claim: '1Gi', conditions: [] });
});

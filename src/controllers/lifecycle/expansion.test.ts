import { expect, test } from 'vitest';
import { classOf } from '../provisioner/testing/objects.ts';
import { Life } from './testing/life.ts';

const classes = [classOf({ allowVolumeExpansion: true })];

async function startBound(given = classes): Promise<Life> {
  const life = await Life.start({ classes: given });
  await life.makeClaim();
  await life.makePod('web', ['data']);
  await life.selectNode('data', 'a1');
  await life.settle();
  return life;
}

async function sizes(life: Life) {
  const { spec, status } = await life.claim();
  const volume = await life.volume(spec?.volumeName ?? '');
  return {
    volume: volume.spec?.capacity?.storage,
    claim: status?.capacity?.storage,
    conditions: (status?.conditions ?? []).map(({ type }) => type),
  };
}

test('a claim grows under its pod, from the volume to the file system', async () => {
  await using life = await startBound();
  await life.bindPod('web', 'a1');
  await life.settle();
  await life.grow('data', '3Gi');
  await life.settle();
  expect(await sizes(life)).toEqual({ volume: '3Gi', claim: '3Gi', conditions: [] });
  const told = (await life.toldOf('data')).map((line) => line.split(':')[0]);
  expect(told).toEqual(expect.arrayContaining(['FileSystemResizeRequired', 'FileSystemResizeSuccessful']));
  expect(await life.lines()).toContain('pod web Running on a1');
  life.expectNoTroubles();
});

test('a claim that nobody uses waits for a node, and grows with its next pod', async () => {
  await using life = await startBound();
  await life.grow('data', '3Gi');
  await life.settle();
  const { conditions, ...rest } = await sizes(life);
  expect(rest).toEqual({ volume: '3Gi', claim: '1Gi' });
  expect(conditions).toContain('FileSystemResizePending');
  await life.bindPod('web', 'a1');
  await life.settle();
  expect(await sizes(life)).toEqual({ volume: '3Gi', claim: '3Gi', conditions: [] });
});

test('a claim that is not bound can not grow', async () => {
  await using life = await Life.start({ classes });
  await life.makeClaim();
  await life.settle();
  // The server takes no other request of a claim that is not bound.
  await expect(life.grow('data', '3Gi')).rejects.toMatchObject({ reason: 'Invalid' });
  await life.selectNode('data', 'a1');
  await life.settle();
  expect(await sizes(life)).toEqual({ volume: '1Gi', claim: '1Gi', conditions: [] });
});

test('a class that does not allow it leaves the claim as it is', async () => {
  await using life = await startBound([classOf()]);
  await expect(life.grow('data', '3Gi')).rejects.toMatchObject({ code: 403 });
  await life.settle();
  expect(await sizes(life)).toEqual({ volume: '1Gi', claim: '1Gi', conditions: [] });
});

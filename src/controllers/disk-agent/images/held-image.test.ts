import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { AgentFixture } from '../testing/agent-fixture.ts';
import { FileServer } from '../testing/file-server.ts';

test('the files of a deleted image stay while a volume uses it', async () => {
  const fixture = await AgentFixture.start('n1');
  const data = randomBytes(2 ** 16);
  const server = await FileServer.start({ data });
  await fixture.addImage('i', { source: { download: { url: server.url } }, expectedSize: data.length });
  await fixture.untilCopy('i', 'n1', 'ready');
  await fixture.addVolume('v', { size: 2 ** 20, numberOfReplicas: 1, backingImage: 'i' });
  await fixture.untilRunning('v', 1);
  const client = fixture.cluster.resource(backingImages);
  await client.delete({ name: 'i' });
  await fixture.settle();
  expect(data.equals(await fixture.read('n1', 'images/i/data.img'))).toBe(true);
  await fixture.cluster.resource(diskVolumes).delete({ name: 'v' });
  await fixture.until(async () => (await undefinedIfNotFound(client.get({ name: 'i' }))) === undefined);
  expect(await readdir(join(fixture.diskPath('n1'), 'images'))).toEqual([]);
});

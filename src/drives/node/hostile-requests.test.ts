import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NodeFixture } from '../testing/node-fixture.ts';

const mib = 2 ** 20;
const names = ['.', '..', '../pvc', 'a/b', '/etc', 'pvc\0', 'pvc\n', 'x'.repeat(256), '\ud800'];

test('names that are no names are refused by every method', async () => {
  const node = await NodeFixture.start();
  for (const name of names)
    for (const call of [
      () => node.stage(name, { stagingTargetPath: node.path('s') }),
      () => node.publish(name, { stagingTargetPath: node.path('s'), targetPath: node.path('p') }),
      () => node.unpublish(name, node.path('p')),
      () => node.unstage(name, node.path('s')),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'InvalidArgument' });
  expect((await node.host.mounts()).mounts).toHaveLength(1);
});

test('names that look like options and commands are names', async () => {
  const node = await NodeFixture.start();
  for (const name of ['-rf', '$(reboot)', '; reboot', 'a b', '*', 'deleted']) {
    await node.addVolume(name, mib);
    await node.stage(name, { stagingTargetPath: node.path(`stage-${name}`) });
    await node.unstage(name, node.path(`stage-${name}`));
    await node.releaseVolume(name);
    await node.until(async () => (await node.fixture.get('n1-a')).spec?.volumes?.length === 0);
  }
});

test('paths that lead elsewhere are refused', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', mib);
  symlinkSync('/etc', node.path('link'));
  writeFileSync(node.path('file'), '');
  const paths = [
    'relative',
    '/',
    '',
    `${node.kubelet}/../x`,
    `${node.kubelet}/./x`,
    `${node.kubelet}//x`,
    `${node.kubelet}/x\0`,
    `${node.kubelet}/${'x'.repeat(256)}`,
    `${node.kubelet}/${'x/'.repeat(2500)}x`,
    node.path('link'),
    node.path('file'),
    join(node.drivesRoot, 'x'),
    `${node.kubelet}/missing/x`,
  ];
  for (const stagingTargetPath of paths)
    await expect(node.stage('pvc-1', { stagingTargetPath }), stagingTargetPath).rejects.toMatchObject({
      code: 'InvalidArgument',
    });
  expect((await node.host.mounts()).mounts).toHaveLength(1);
});

test('a link above the path is followed, and the drives stay out of reach through it', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', mib);
  mkdirSync(join(node.folder, 'real'));
  symlinkSync(join(node.folder, 'real'), node.path('root'));
  symlinkSync(node.drivesRoot, node.path('drives'));
  await node.stage('pvc-1', { stagingTargetPath: node.path('root/stage') });
  expect((await node.host.mounts()).at(join(node.folder, 'real/stage'))).toBeDefined();
  await node.unstage('pvc-1', node.path('root/stage'));
  await expect(node.stage('pvc-1', { stagingTargetPath: node.path('drives/x') })).rejects.toMatchObject({
    code: 'InvalidArgument',
  });
});

test('mounts that are not of the volume stay', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', mib);
  await node.addVolume('pvc-2', mib);
  await node.stage('pvc-2');
  mkdirSync(node.path('other'));
  node.host.addMount({ path: node.path('other') });
  for (const path of [node.path('other'), node.path('stage-pvc-2')]) {
    await expect(node.unstage('pvc-1', path)).rejects.toMatchObject({ code: 'FailedPrecondition' });
    await expect(node.unpublish('pvc-1', path)).rejects.toMatchObject({ code: 'FailedPrecondition' });
    await expect(node.stage('pvc-1', { stagingTargetPath: path })).rejects.toMatchObject({
      code: 'FailedPrecondition',
    });
  }
  expect((await node.host.mounts()).mounts).toHaveLength(3);
});

test('a link in the place of a volume, or of the folder of volumes, is not followed', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', mib);
  const mount = (await node.host.mounts()).mounts[0]?.path ?? '';
  mkdirSync(join(node.folder, 'outside'));
  symlinkSync(join(node.folder, 'outside'), join(mount, 'volumes/pvc-1'));
  await expect(node.stage('pvc-1')).rejects.toMatchObject({ code: 'InvalidArgument' });
  await node.releaseVolume('pvc-1');
  await node.fixture.clock.advance(60_000);
  expect(existsSync(join(node.folder, 'outside'))).toBe(true);
  expect((await node.fixture.get('n1-a')).spec?.volumes).toHaveLength(1);
});

test('a file in the directory of the target is not deleted', async () => {
  const node = await NodeFixture.start();
  mkdirSync(node.path('pod'));
  writeFileSync(node.path('pod/file'), '');
  await expect(node.unpublish('pvc-1', node.path('pod'))).rejects.toMatchObject({ code: 'Internal' });
  expect(existsSync(node.path('pod/file'))).toBe(true);
});

import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assetOf } from '../provisioner.ts';
import { claimOf, classOf, local, nodeOf, planLines, someUid, termsOf } from '../testing/objects.ts';
import { temporaryDirectory } from '../testing/temporary-directory.ts';
import { localProvisioner } from './local-provisioner.ts';

const { signal } = new AbortController();
const localClass = classOf({ provisioner: local });
const plan = {
  asset: assetOf(someUid),
  source: { local: {} },
  nodeAffinity: {},
};

test('a volume is reachable only from the host of the selected node', () => {
  const nodes = ['n1 a r1', 'n2 a r1'];
  expect(planLines(localProvisioner('/x'), { nodes, selected: 'n2', storageClass: localClass })).toEqual([
    'host=n2',
  ]);
});

test.each([
  [
    'immediate binding',
    {},
    undefined,
    /^local.stowage.dev creates a volume on the node of the pod; set the class's volumeBindingMode to WaitForFirstConsumer$/,
  ],
  [
    'a parameter',
    { parameters: { path: '/etc' } },
    'n1',
    /^invalid option "path" for volume plugin local.stowage.dev; remove it, the plugin has no options$/,
  ],
  [
    'a node that the class does not allow',
    { allowedTopologies: termsOf('zone=b') },
    'n1',
    /^node "n1" is not among the class's allowedTopologies$/,
  ],
])('%s is refused', (_, more, selected, expected) => {
  const question = {
    nodes: ['n1 a r1'],
    storageClass: { ...localClass, ...more },
    ...(selected === undefined ? {} : { selected }),
  };
  expect(planLines(localProvisioner('/x'), question)).toMatch(expected);
});

test('a block device is refused', () => {
  const claim = claimOf({ spec: { volumeMode: 'Block' } });
  const question = { nodes: ['n1 a r1'], selected: 'n1', storageClass: localClass, claim };
  expect(planLines(localProvisioner('/x'), question)).toMatch(/^a directory is not a block device; /);
});

test('a node without a hostname is refused', () => {
  const { metadata } = nodeOf('n1');
  const request = {
    asset: assetOf(someUid),
    claim: claimOf(),
    storageClass: localClass,
    selectedNode: { metadata: { name: metadata?.name ?? '' } },
    nodes: [],
    spread: { hash: 0, ordinal: 0 },
  };
  const outcome = localProvisioner('/x').plan(request, signal);
  expect(outcome).toMatchObject({
    kind: 'refused',
    message: 'node "n1" has no label kubernetes.io/hostname',
  });
});

test('an obstacle is a refusal that leaves nothing', async () => {
  await using here = await temporaryDirectory();
  await writeFile(join(here.path, `pvc-${someUid}`), '');
  const outcome = await localProvisioner(here.path).create(plan, signal);
  expect(outcome.kind === 'refused' && outcome.message).toMatch(/exists and is not a directory; remove it$/);
});

test('a root that is a file is a refusal', async () => {
  await using here = await temporaryDirectory();
  await writeFile(join(here.path, 'file'), '');
  await expect(localProvisioner(join(here.path, 'file')).create(plan, signal)).resolves.toMatchObject({
    kind: 'refused',
  });
});

test('only a volume at its expected path is removed', async () => {
  await using here = await temporaryDirectory();
  const provisioner = localProvisioner(join(here.path, 'root'));
  const made = await provisioner.create(plan, signal);
  const path = made.kind === 'created' ? (made.volume.source.local?.path ?? '') : '';
  await mkdir(join(here.path, 'etc'));
  const forged = { spec: { local: { path: join(here.path, 'etc') } } };
  await expect(provisioner.delete(assetOf(someUid, forged), signal)).rejects.toThrow('remove it by hand');
  await expect(provisioner.delete(assetOf(someUid, {}), signal)).rejects.toThrow('remove it by hand');
  expect(existsSync(path) && existsSync(join(here.path, 'etc'))).toBe(true);
  await chmod(path, 0o500);
  await provisioner.delete(assetOf(someUid, { spec: { local: { path } } }), signal);
  expect(existsSync(path)).toBe(false);
});

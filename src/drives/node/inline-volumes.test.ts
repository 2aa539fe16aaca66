import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { pods } from '../../kube/resources.ts';
import { NodeFixture } from '../testing/node-fixture.ts';

const mib = 2 ** 20;

test('an inline volume is put on the drive with the most free bytes, and freed with its pod', async () => {
  const node = await NodeFixture.start({ 'n1-a': 512 * mib, 'n1-b': 1024 * mib });
  await node.publishInline('csi-1', { size: '100Mi' });
  expect((await node.fixture.get('n1-b')).spec?.volumes).toMatchObject([
    {
      name: 'csi-1',
      sizeBytes: 100 * mib,
      podRef: { namespace: 'default', name: 'web', uid: 'uid-web' },
    },
  ]);
  expect(node.host.limits.get('csi-1')).toBe(100 * mib);
  await node.unpublish('csi-1');
  await node.until(async () => (await node.fixture.get('n1-b')).spec?.volumes?.length === 0);
});

test('the size may come from Kubernetes, and tier and labels from the pod', async () => {
  const node = await NodeFixture.start({ 'n1-a': 512 * mib, 'n1-b': 1024 * mib });
  await node.fixture.merge('n1-a', { metadata: { labels: { rack: 'r1' } }, spec: { accessTier: 'Hot' } });
  await node.publishInline('csi-1', {
    'csi.storage.k8s.io/size': '50Mi',
    accessTier: 'hot',
    driveLabels: 'rack=r1',
  });
  expect((await node.fixture.get('n1-a')).spec?.volumes).toMatchObject([{ sizeBytes: 50 * mib }]);
});

/** A pod with an inline volume of each size, in MiB; publishes them in this order and returns the drives that they are on. */
async function publishedTogether(node: NodeFixture, sizes: readonly number[], isAtOnce = false) {
  const created = await node.fixture.cluster.resource(pods).create({
    metadata: { namespace: 'default', name: 'web' },
    spec: {
      containers: [{ name: 'main', image: 'registry.example.com/app:1' }],
      volumes: sizes.map((size) => ({
        name: `v${size}`,
        csi: { driver: 'drives.stowage.dev', volumeAttributes: { size: `${size}Mi` } },
      })),
    },
  });
  const uid = created.metadata?.uid ?? '';
  const handles = sizes.map((size) => `csi-${createHash('sha256').update(`${uid}v${size}`).digest('hex')}`);
  const publish = (at: number) =>
    node.publishInline(handles[at]!, { size: `${sizes[at]}Mi`, 'csi.storage.k8s.io/pod.uid': uid });
  if (isAtOnce) await Promise.all(sizes.map((_, at) => publish(at)));
  else for (const at of sizes.keys()) await publish(at);
  const all = await node.fixture.all();
  return handles.map(
    (handle) => all.find(({ spec }) => spec?.volumes?.some(({ name }) => name === handle))?.metadata?.name,
  );
}

test('the volumes of a pod are placed together, whatever the order', async () => {
  const sizes = { 'n1-a': 160 * mib, 'n1-b': 96 * mib };
  const inOrder = await NodeFixture.start(sizes);
  expect(await publishedTogether(inOrder, [80, 144])).toEqual(['n1-b', 'n1-a']);
  const atOnce = await NodeFixture.start(sizes);
  expect(await publishedTogether(atOnce, [80, 144], true)).toEqual(['n1-b', 'n1-a']);
});

test('of a pod that cannot be read, or is another one, each volume is placed alone', async () => {
  const node = await NodeFixture.start({ 'n1-a': 160 * mib, 'n1-b': 96 * mib });
  await node.publishInline('csi-1', { size: '80Mi' });
  expect((await node.fixture.get('n1-a')).spec?.volumes).toHaveLength(1);
});

test('pods at once never get more than there is', async () => {
  const node = await NodeFixture.start({ 'n1-a': 512 * mib });
  const calls = Array.from({ length: 8 }, (_, at) => node.publishInline(`csi-${at}`, { size: '100Mi' }));
  const codes = (await Promise.allSettled(calls)).map((one) =>
    one.status === 'fulfilled' ? 'OK' : (one.reason as { readonly code: string }).code,
  );
  expect(codes.filter((code) => code === 'OK')).toHaveLength(5);
  expect(new Set(codes)).toEqual(new Set(['OK', 'ResourceExhausted']));
  node.fixture.expectNoOverdraft();
});

test('mistakes of the pod are named', async () => {
  const node = await NodeFixture.start();
  const mistakes: readonly [Readonly<Record<string, string>>, string][] = [
    [{}, 'size is required'],
    [{ size: 'large' }, 'must be a quantity'],
    [{ size: '0' }, 'must be a quantity'],
    [{ size: '-1Gi' }, 'must be a quantity'],
    [{ size: '1Mi', colour: 'red' }, 'colour'],
    [{ size: '1Mi', accessTier: 'Lukewarm' }, 'accessTier'],
    [{ size: '1Mi', 'csi.storage.k8s.io/pod.name': '' }, 'podInfoOnMount'],
  ];
  for (const [attributes, text] of mistakes) {
    const call = node.publishInline('csi-1', attributes);
    await expect(call).rejects.toMatchObject({ code: 'InvalidArgument' });
    await expect(call).rejects.toThrow(text);
  }
  await expect(node.publishInline('csi-1', { size: '1Ti' })).rejects.toMatchObject({
    code: 'ResourceExhausted',
  });
});

test('the volume of another pod is not given away', async () => {
  const node = await NodeFixture.start();
  await node.publishInline('csi-1', { size: '1Mi' });
  await expect(
    node.publishInline('csi-1', { size: '1Mi', 'csi.storage.k8s.io/pod.uid': 'other' }),
  ).rejects.toMatchObject({ code: 'AlreadyExists' });
});

test('a volume that is still mounted is not released', async () => {
  const node = await NodeFixture.start();
  await node.publishInline('csi-1', { size: '1Mi' });
  await node.unpublish('csi-1', node.path('elsewhere'));
  expect((await node.fixture.get('n1-a')).spec?.volumes).toMatchObject([{ name: 'csi-1', state: 'Active' }]);
});

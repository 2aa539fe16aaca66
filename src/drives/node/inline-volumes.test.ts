import { expect, test } from 'vitest';
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

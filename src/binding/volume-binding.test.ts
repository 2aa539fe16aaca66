import { describe, expect, test } from 'vitest';
import { persistentVolumes, pods } from '../kube/resources.ts';
import { AssumeError, BindFailure } from './index.ts';
import { BindingLibraryFixture, namespace } from './testing/binding-fixture.ts';

const noMatch = "node(s) didn't find available persistent volumes to bind";

describe('check', () => {
  test('answers that the node fits, or why it does not', async () => {
    await using fixture = await BindingLibraryFixture.start();
    for (const name of ['n1', 'n2']) await fixture.node(name);
    await fixture.disk('d1', '10Gi', 'n1');
    const pod = await fixture.pod('p', '5Gi');
    expect(fixture.binding.check(pod, 'n1')).toEqual({ kind: 'fits', node: 'n1', score: 75 });
    expect(fixture.binding.check(pod, 'n2')).toEqual({
      kind: 'refused',
      node: 'n2',
      reasons: ['NoVolumeFits'],
      texts: [noMatch],
      isUnresolvable: true,
    });
    expect(fixture.binding.check(pod, 'n3')).toEqual({ kind: 'unknown', node: 'n3' });
  });

  test('reserves nothing, however often it is called', async () => {
    await using fixture = await BindingLibraryFixture.start();
    await fixture.node('n1');
    await fixture.disk('d1', '10Gi', 'n1');
    for (const name of ['p', 'q'])
      expect(fixture.binding.check(await fixture.pod(name, '5Gi'), 'n1')).toMatchObject({ kind: 'fits' });
  });

  test('applies only the rules about volumes, unless `rules` is `all`', async () => {
    const taints = [{ key: 'k', effect: 'NoSchedule' }] as const;
    for (const [rules, expected] of [
      ['volumes', { kind: 'fits' }],
      ['all', { kind: 'refused', texts: ['node(s) had untolerated taint(s)'] }],
    ] as const) {
      await using fixture = await BindingLibraryFixture.start({ rules });
      await fixture.node('n1', { taints });
      expect(fixture.binding.check(await fixture.pod('p'), 'n1')).toMatchObject(expected);
    }
  });
});

test('prioritize omits nodes that do not fit, and puts the tightest fit first', async () => {
  await using fixture = await BindingLibraryFixture.start();
  for (const name of ['n1', 'n2', 'n3']) await fixture.node(name);
  await fixture.disk('d1', '20Gi', 'n1');
  await fixture.disk('d2', '5Gi', 'n2');
  const pod = await fixture.pod('p', '5Gi');
  expect(fixture.binding.prioritize(pod, ['n1', 'n2', 'n3'])).toEqual([
    { node: 'n2', score: 100 },
    { node: 'n1', score: 62.5 },
  ]);
});

describe('assume', () => {
  test('reserves what the pod takes, until it is reverted', async () => {
    await using fixture = await BindingLibraryFixture.start();
    await fixture.node('n1');
    await fixture.disk('d1', '10Gi', 'n1');
    const [first, second] = [await fixture.pod('p', '5Gi'), await fixture.pod('q', '5Gi')];
    const assumed = fixture.binding.assume(first, 'n1');
    expect(assumed.placement.bindings).toMatchObject([{ claim: 'default/p-0', volume: 'd1' }]);
    expect(assumed.allBound).toBe(false);
    expect(fixture.binding.check(second, 'n1')).toMatchObject({ kind: 'refused' });
    expect(() => fixture.binding.assume(second, 'n1')).toThrow(
      new AssumeError(`pod default/q does not fit node n1: ${noMatch}`),
    );
    assumed.revert();
    assumed.revert();
    expect(fixture.binding.check(second, 'n1')).toMatchObject({ kind: 'fits' });
  });

  test('reserves a pod name once', async () => {
    await using fixture = await BindingLibraryFixture.start();
    await fixture.node('n1');
    const pod = await fixture.pod('p');
    fixture.binding.assume(pod, 'n1');
    expect(() => fixture.binding.assume(pod, 'n1')).toThrow('already has a reservation');
    expect(() => fixture.binding.assume(pod, 'ghost')).toThrow('there is no such node');
  });
});

describe('bind', () => {
  test('binds all volumes, and then the pod', async () => {
    await using fixture = await BindingLibraryFixture.start();
    await fixture.node('n1');
    await fixture.disk('d1', '10Gi', 'n1');
    await fixture.disk('d2', '5Gi', 'n1');
    await fixture.binding.assume(await fixture.pod('p', '8Gi', '3Gi'), 'n1').bind();
    expect(await fixture.placement('p')).toBe('n1 d1 d2');
  });

  test('gives two pods that are bound at the same time different volumes', async () => {
    await using fixture = await BindingLibraryFixture.start();
    await fixture.node('n1');
    for (const name of ['d1', 'd2']) await fixture.disk(name, '10Gi', 'n1');
    const waiting = [await fixture.pod('p', '5Gi'), await fixture.pod('q', '5Gi')];
    await Promise.all(waiting.map((pod) => fixture.binding.assume(pod, 'n1').bind()));
    expect([await fixture.placement('p'), await fixture.placement('q')]).toEqual(['n1 d1', 'n1 d2']);
  });

  test('of volumes alone leaves the pod to the caller', async () => {
    await using fixture = await BindingLibraryFixture.start();
    await fixture.node('n1');
    await fixture.disk('d1', '10Gi', 'n1');
    const pod = await fixture.pod('p', '5Gi');
    await fixture.binding.assume(pod, 'n1').bindVolumes();
    expect(await fixture.placement('p')).toBe('- d1');
    const again = () => fixture.binding.assume(pod, 'n1');
    expect(again).toThrow('already has a reservation');
  });

  test('reverts everything when it fails, and says why', async () => {
    await using fixture = await BindingLibraryFixture.start();
    await fixture.node('n1');
    for (const name of ['d1', 'd2']) await fixture.disk(name, '10Gi', 'n1');
    const pod = await fixture.pod('p', '5Gi', '5Gi');
    const assumed = fixture.binding.assume(pod, 'n1');
    const volumes = fixture.cluster.resource(persistentVolumes);
    const body = { metadata: { labels: { changed: 'yes' } } };
    await volumes.patch({ name: 'd2' }, { type: 'merge', body });
    await fixture.observed(
      () => fixture.binding.get('PersistentVolume', 'd2')?.metadata?.labels?.changed === 'yes',
    );
    const error = await assumed.bind().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BindFailure);
    expect(String(error)).toContain('PersistentVolume d2 is out of sync');
    expect(await fixture.placement('p')).toBe('- - -');
    await fixture.binding.assume(pod, 'n1').bind();
    expect(await fixture.placement('p')).toBe('n1 d1 d2');
  });

  test('reverts everything when the pod is gone', async () => {
    await using fixture = await BindingLibraryFixture.start();
    await fixture.node('n1');
    await fixture.disk('d1', '10Gi', 'n1');
    const assumed = fixture.binding.assume(await fixture.pod('p', '5Gi'), 'n1');
    await fixture.cluster.resource(pods).delete({ namespace, name: 'p' }, { gracePeriodSeconds: 0 });
    await fixture.observed(() => fixture.binding.get('Pod', 'default/p') === undefined);
    await expect(assumed.bind()).rejects.toThrow(new BindFailure('pod default/p is gone'));
    expect(fixture.binding.check(await fixture.pod('q', '5Gi'), 'n1')).toMatchObject({ kind: 'fits' });
  });
});

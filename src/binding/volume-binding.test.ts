import { describe, expect, test } from 'vitest';
import { persistentVolumes, pods } from '../kube/resources.ts';
import { AssumeError, BindFailure } from './index.ts';
import { BindingLibraryWorld, namespace } from './testing/binding-world.ts';

const noMatch = "node(s) didn't find available persistent volumes to bind";

describe('check', () => {
  test('says that the node fits, or why it does not', async () => {
    await using world = await BindingLibraryWorld.start();
    for (const name of ['n1', 'n2']) await world.node(name);
    await world.disk('d1', '10Gi', 'n1');
    const pod = await world.pod('p', '5Gi');
    expect(world.binding.check(pod, 'n1')).toEqual({ kind: 'fits', node: 'n1', score: 75 });
    expect(world.binding.check(pod, 'n2')).toEqual({
      kind: 'refused',
      node: 'n2',
      reasons: ['NoVolumeFits'],
      texts: [noMatch],
      isForGood: true,
    });
    expect(world.binding.check(pod, 'n3')).toEqual({ kind: 'unknown', node: 'n3' });
  });

  test('takes nothing: it may be asked any number of times', async () => {
    await using world = await BindingLibraryWorld.start();
    await world.node('n1');
    await world.disk('d1', '10Gi', 'n1');
    for (const name of ['p', 'q'])
      expect(world.binding.check(await world.pod(name, '5Gi'), 'n1')).toMatchObject({ kind: 'fits' });
  });

  test('looks at volumes only, unless told to look at everything', async () => {
    const taints = [{ key: 'k', effect: 'NoSchedule' }] as const;
    for (const [rules, expected] of [
      ['volumes', { kind: 'fits' }],
      ['all', { kind: 'refused', texts: ['node(s) had untolerated taint(s)'] }],
    ] as const) {
      await using world = await BindingLibraryWorld.start({ rules });
      await world.node('n1', { taints });
      expect(world.binding.check(await world.pod('p'), 'n1')).toMatchObject(expected);
    }
  });
});

test('prioritize leaves out what does not fit, and puts the tightest fit first', async () => {
  await using world = await BindingLibraryWorld.start();
  for (const name of ['n1', 'n2', 'n3']) await world.node(name);
  await world.disk('d1', '20Gi', 'n1');
  await world.disk('d2', '5Gi', 'n2');
  const pod = await world.pod('p', '5Gi');
  expect(world.binding.prioritize(pod, ['n1', 'n2', 'n3'])).toEqual([
    { node: 'n2', score: 100 },
    { node: 'n1', score: 62.5 },
  ]);
});

describe('assume', () => {
  test('keeps what the pod takes from all others, until it is reverted', async () => {
    await using world = await BindingLibraryWorld.start();
    await world.node('n1');
    await world.disk('d1', '10Gi', 'n1');
    const [first, second] = [await world.pod('p', '5Gi'), await world.pod('q', '5Gi')];
    const assumed = world.binding.assume(first, 'n1');
    expect(assumed.placement.bindings).toMatchObject([{ claim: 'default/p-0', volume: 'd1' }]);
    expect(assumed.allBound).toBe(false);
    expect(world.binding.check(second, 'n1')).toMatchObject({ kind: 'refused' });
    expect(() => world.binding.assume(second, 'n1')).toThrow(
      new AssumeError(`pod default/q does not fit node n1: ${noMatch}`),
    );
    assumed.revert();
    assumed.revert();
    expect(world.binding.check(second, 'n1')).toMatchObject({ kind: 'fits' });
  });

  test('takes a pod once', async () => {
    await using world = await BindingLibraryWorld.start();
    await world.node('n1');
    const pod = await world.pod('p');
    world.binding.assume(pod, 'n1');
    expect(() => world.binding.assume(pod, 'n1')).toThrow('has a reservation already');
    expect(() => world.binding.assume(pod, 'ghost')).toThrow('there is no such node');
  });
});

describe('bind', () => {
  test('binds all volumes, and then the pod', async () => {
    await using world = await BindingLibraryWorld.start();
    await world.node('n1');
    await world.disk('d1', '10Gi', 'n1');
    await world.disk('d2', '5Gi', 'n1');
    await world.binding.assume(await world.pod('p', '8Gi', '3Gi'), 'n1').bind();
    expect(await world.fate('p')).toBe('n1 d1 d2');
  });

  test('two pods at once get volumes of their own', async () => {
    await using world = await BindingLibraryWorld.start();
    await world.node('n1');
    for (const name of ['d1', 'd2']) await world.disk(name, '10Gi', 'n1');
    const waiting = [await world.pod('p', '5Gi'), await world.pod('q', '5Gi')];
    await Promise.all(waiting.map((pod) => world.binding.assume(pod, 'n1').bind()));
    expect([await world.fate('p'), await world.fate('q')]).toEqual(['n1 d1', 'n1 d2']);
  });

  test('of volumes alone leaves the pod to the caller', async () => {
    await using world = await BindingLibraryWorld.start();
    await world.node('n1');
    await world.disk('d1', '10Gi', 'n1');
    const pod = await world.pod('p', '5Gi');
    await world.binding.assume(pod, 'n1').bindVolumes();
    expect(await world.fate('p')).toBe('- d1');
    const again = () => world.binding.assume(pod, 'n1');
    expect(again).toThrow('has a reservation already');
  });

  test('that fails gives everything back, and says why', async () => {
    await using world = await BindingLibraryWorld.start();
    await world.node('n1');
    for (const name of ['d1', 'd2']) await world.disk(name, '10Gi', 'n1');
    const pod = await world.pod('p', '5Gi', '5Gi');
    const assumed = world.binding.assume(pod, 'n1');
    const volumes = world.world.cluster.resource(persistentVolumes);
    const body = { metadata: { labels: { somebody: 'else' } } };
    await volumes.patch({ name: 'd2' }, { type: 'merge', body });
    await world.known(
      () => world.binding.get('PersistentVolume', 'd2')?.metadata?.labels?.somebody === 'else',
    );
    const error = await assumed.bind().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BindFailure);
    expect(String(error)).toContain('PersistentVolume d2 is out of sync');
    expect(await world.fate('p')).toBe('- - -');
    await world.binding.assume(pod, 'n1').bind();
    expect(await world.fate('p')).toBe('n1 d1 d2');
  });

  test('of a pod that is gone gives everything back', async () => {
    await using world = await BindingLibraryWorld.start();
    await world.node('n1');
    await world.disk('d1', '10Gi', 'n1');
    const assumed = world.binding.assume(await world.pod('p', '5Gi'), 'n1');
    await world.world.cluster.resource(pods).delete({ namespace, name: 'p' }, { gracePeriodSeconds: 0 });
    await world.known(() => world.binding.get('Pod', 'default/p') === undefined);
    await expect(assumed.bind()).rejects.toThrow(new BindFailure('pod default/p is gone'));
    expect(world.binding.check(await world.pod('q', '5Gi'), 'n1')).toMatchObject({ kind: 'fits' });
  });
});

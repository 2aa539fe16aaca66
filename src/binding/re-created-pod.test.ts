import { describe, expect, test } from 'vitest';
import type { Pod } from '../kube/api/core.ts';
import { pods } from '../kube/resources.ts';
import { type AssumedPod, AssumeError, BindFailure } from './index.ts';
import { BindingLibraryWorld, namespace } from './testing/binding-world.ts';

const text = 'pod "default/p" has a reservation already, on node "n1"';

interface Scene {
  readonly world: BindingLibraryWorld;
  /** What became of binding the pod that was there before. */
  readonly outcome: Promise<unknown>;
  /** The pod that came under its name meanwhile. */
  readonly successor: Pod;
  /** The API server answers at last. */
  readonly answer: () => void;
}

/** A pod is deleted and created anew while the one before it is on its way: the write of its node hangs. */
async function reCreated(world: BindingLibraryWorld): Promise<Scene> {
  for (const name of ['n1', 'n2']) await world.node(name);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    world.network.onRequest(async ({ verb }) => {
      if (verb !== 'post') return;
      resolve();
      await answered;
    });
  });
  const outcome = outcomeOf(world.binding.assume(await world.pod('p'), 'n1'));
  await reached;
  await world.world.cluster.resource(pods).delete({ namespace, name: 'p' }, { gracePeriodSeconds: 0 });
  const successor = await world.pod('p');
  const { uid } = successor.metadata ?? {};
  await world.known(() => world.binding.get('Pod', 'default/p')?.metadata?.uid === uid);
  return { world, outcome, successor, answer };
}

function outcomeOf(assumed: AssumedPod): Promise<unknown> {
  return assumed.bind().catch((error: unknown) => error);
}

describe('a pod that was re-created while the one before it is being bound', () => {
  test('fits nowhere for now, and is told why', async () => {
    await using world = await BindingLibraryWorld.start();
    const { successor, answer, outcome } = await reCreated(world);
    const refused = { kind: 'refused', reasons: ['AlreadyReserved'], texts: [text], isForGood: true };
    for (const node of ['n1', 'n2'])
      expect(world.binding.check(successor, node)).toEqual({ ...refused, node });
    expect(world.binding.check(successor, 'ghost')).toEqual({ kind: 'unknown', node: 'ghost' });
    expect(world.binding.prioritize(successor, ['n1', 'n2'])).toEqual([]);
    expect(() => world.binding.assume(successor, 'n2')).toThrow(
      new AssumeError(`pod default/p does not fit node n2: ${text}`),
    );
    answer();
    await outcome;
  });

  test('is woken when the name is free, and placed', async () => {
    await using world = await BindingLibraryWorld.start();
    const { successor, answer, outcome } = await reCreated(world);
    const woken = world.known(() => world.binding.prioritize(successor, ['n1', 'n2']).length === 2);
    answer();
    expect(await outcome).toBeInstanceOf(BindFailure);
    await woken;
    await world.binding.assume(successor, 'n2').bind();
    expect(await world.fate('p')).toBe('n2');
  });
});

test('check and prioritize say of every pod what assume would do', async () => {
  await using world = await BindingLibraryWorld.start();
  await world.node('n1');
  const pod = await world.pod('p');
  const assumed = world.binding.assume(pod, 'n1');
  expect(world.binding.check(pod, 'n1')).toMatchObject({ kind: 'refused', texts: [text] });
  expect(world.binding.prioritize(pod, ['n1'])).toEqual([]);
  assumed.revert();
  expect(world.binding.check(pod, 'n1')).toMatchObject({ kind: 'fits' });
});

test('bind of what was reverted writes nothing', async () => {
  await using world = await BindingLibraryWorld.start();
  await world.node('n1');
  const assumed = world.binding.assume(await world.pod('p'), 'n1');
  assumed.revert();
  await expect(assumed.bind()).rejects.toThrow(
    new BindFailure('pod default/p is not reserved any more: it was reverted, or is bound'),
  );
  expect(await world.fate('p')).toBe('-');
});

import { describe, expect, test } from 'vitest';
import type { Pod } from '../kube/api/core.ts';
import { pods } from '../kube/resources.ts';
import { type AssumedPod, AssumeError, BindFailure } from './index.ts';
import { BindingLibraryFixture, namespace } from './testing/binding-fixture.ts';

const text = 'pod "default/p" already has a reservation on node "n1"';

interface Scene {
  readonly fixture: BindingLibraryFixture;
  /** What became of binding the pod that was there before. */
  readonly outcome: Promise<unknown>;
  /** The pod that came under its name meanwhile. */
  readonly successor: Pod;
  /** The API server answers at last. */
  readonly answer: () => void;
}

/** A pod is deleted and created anew while the one before it is on its way: the write of its node hangs. */
async function reCreated(fixture: BindingLibraryFixture): Promise<Scene> {
  for (const name of ['n1', 'n2']) await fixture.node(name);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    fixture.network.addHooks({
      before: async ({ verb }) => {
        if (verb !== 'post') return;
        resolve();
        await answered;
      },
    });
  });
  const outcome = outcomeOf(fixture.binding.assume(await fixture.pod('p'), 'n1'));
  await reached;
  await fixture.fixture.cluster.resource(pods).delete({ namespace, name: 'p' }, { gracePeriodSeconds: 0 });
  const successor = await fixture.pod('p');
  const { uid } = successor.metadata ?? {};
  await fixture.known(() => fixture.binding.get('Pod', 'default/p')?.metadata?.uid === uid);
  return { fixture, outcome, successor, answer };
}

function outcomeOf(assumed: AssumedPod): Promise<unknown> {
  return assumed.bind().catch((error: unknown) => error);
}

describe('a pod that was re-created while the one before it is being bound', () => {
  test('fits nowhere for now, and is told why', async () => {
    await using fixture = await BindingLibraryFixture.start();
    const { successor, answer, outcome } = await reCreated(fixture);
    const refused = { kind: 'refused', reasons: ['AlreadyReserved'], texts: [text], isUnresolvable: true };
    for (const node of ['n1', 'n2'])
      expect(fixture.binding.check(successor, node)).toEqual({ ...refused, node });
    expect(fixture.binding.check(successor, 'ghost')).toEqual({ kind: 'unknown', node: 'ghost' });
    expect(fixture.binding.prioritize(successor, ['n1', 'n2'])).toEqual([]);
    expect(() => fixture.binding.assume(successor, 'n2')).toThrow(
      new AssumeError(`pod default/p does not fit node n2: ${text}`),
    );
    answer();
    await outcome;
  });

  test('is woken when the name is free, and placed', async () => {
    await using fixture = await BindingLibraryFixture.start();
    const { successor, answer, outcome } = await reCreated(fixture);
    const woken = fixture.known(() => fixture.binding.prioritize(successor, ['n1', 'n2']).length === 2);
    answer();
    expect(await outcome).toBeInstanceOf(BindFailure);
    await woken;
    await fixture.binding.assume(successor, 'n2').bind();
    expect(await fixture.fate('p')).toBe('n2');
  });
});

test('check and prioritize say of every pod what assume would do', async () => {
  await using fixture = await BindingLibraryFixture.start();
  await fixture.node('n1');
  const pod = await fixture.pod('p');
  const assumed = fixture.binding.assume(pod, 'n1');
  expect(fixture.binding.check(pod, 'n1')).toMatchObject({ kind: 'refused', texts: [text] });
  expect(fixture.binding.prioritize(pod, ['n1'])).toEqual([]);
  assumed.revert();
  expect(fixture.binding.check(pod, 'n1')).toMatchObject({ kind: 'fits' });
});

test('bind of what was reverted writes nothing', async () => {
  await using fixture = await BindingLibraryFixture.start();
  await fixture.node('n1');
  const assumed = fixture.binding.assume(await fixture.pod('p'), 'n1');
  assumed.revert();
  await expect(assumed.bind()).rejects.toThrow(
    new BindFailure('pod default/p is not reserved any more: it was reverted, or is bound'),
  );
  expect(await fixture.fate('p')).toBe('-');
});

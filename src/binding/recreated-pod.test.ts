import { describe, expect, test } from 'vitest';
import type { Pod } from '../kube/api/core.ts';
import { pods } from '../kube/resources.ts';
import { type AssumedPod, AssumeError, BindFailure } from './index.ts';
import { BindingLibraryFixture, namespace } from './testing/binding-fixture.ts';

const text = 'pod "default/p" already has a reservation on node "n1"';

interface RecreatedPod {
  readonly fixture: BindingLibraryFixture;
  /** How the binding of the first pod ended. */
  readonly outcome: Promise<unknown>;
  /** The pod that was created under its name meanwhile. */
  readonly successor: Pod;
  /** Lets the API server answer the first pod's binding. */
  readonly answer: () => void;
}

/** A pod is deleted and re-created while the first one is being bound: the write of its node hangs. */
async function reCreated(fixture: BindingLibraryFixture): Promise<RecreatedPod> {
  for (const name of ['n1', 'n2']) await fixture.node(name);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    fixture.connection.addHooks({
      before: async ({ verb }) => {
        if (verb !== 'post') return;
        resolve();
        await answered;
      },
    });
  });
  const outcome = outcomeOf(fixture.binding.assume(await fixture.pod('p'), 'n1'));
  await reached;
  await fixture.cluster.resource(pods).delete({ namespace, name: 'p' }, { gracePeriodSeconds: 0 });
  const successor = await fixture.pod('p');
  const { uid } = successor.metadata ?? {};
  await fixture.observed(() => fixture.binding.get('Pod', 'default/p')?.metadata?.uid === uid);
  return { fixture, outcome, successor, answer };
}

function outcomeOf(assumed: AssumedPod): Promise<unknown> {
  return assumed.bind().catch((error: unknown) => error);
}

describe('a pod that was re-created while its predecessor is being bound', () => {
  test('fits no node for now, and the answer says why', async () => {
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

  test('can be placed when the name is free, and `nextChange` resolves then', async () => {
    await using fixture = await BindingLibraryFixture.start();
    const { successor, answer, outcome } = await reCreated(fixture);
    const woken = fixture.observed(() => fixture.binding.prioritize(successor, ['n1', 'n2']).length === 2);
    answer();
    expect(await outcome).toBeInstanceOf(BindFailure);
    await woken;
    await fixture.binding.assume(successor, 'n2').bind();
    expect(await fixture.placement('p')).toBe('n2');
  });
});

test('check and prioritize answer what assume would do', async () => {
  await using fixture = await BindingLibraryFixture.start();
  await fixture.node('n1');
  const pod = await fixture.pod('p');
  const assumed = fixture.binding.assume(pod, 'n1');
  expect(fixture.binding.check(pod, 'n1')).toMatchObject({ kind: 'refused', texts: [text] });
  expect(fixture.binding.prioritize(pod, ['n1'])).toEqual([]);
  assumed.revert();
  expect(fixture.binding.check(pod, 'n1')).toMatchObject({ kind: 'fits' });
});

test('bind writes nothing after revert', async () => {
  await using fixture = await BindingLibraryFixture.start();
  await fixture.node('n1');
  const assumed = fixture.binding.assume(await fixture.pod('p'), 'n1');
  assumed.revert();
  await expect(assumed.bind()).rejects.toThrow(
    new BindFailure('pod default/p is not reserved any more: it was reverted, or is bound'),
  );
  expect(await fixture.placement('p')).toBe('-');
});

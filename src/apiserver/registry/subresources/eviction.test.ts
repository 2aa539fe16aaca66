import { beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../../../kube/api-error.ts';
import { settle } from '../../store/testing/manual-durability.ts';
import { errorOf, RegistryFixture } from '../testing/registry-fixture.ts';

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.start();
});

const labels = { app: 'a' };

async function makePod(name: string, { phase = 'Running', ready = 'True' } = {}): Promise<void> {
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] };
  await fixture.create('pods', { metadata: { name, labels }, spec });
  const conditions = [{ type: 'Ready', status: ready }];
  await fixture.patch('pods', name, { status: { phase, conditions } }, { subresource: 'status' });
}

async function makeBudget(name: string, status: object = {}, spec: object = {}): Promise<void> {
  const selector = { matchLabels: labels };
  await fixture.create('poddisruptionbudgets', { metadata: { name }, spec: { selector, ...spec } });
  const seen = { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 };
  await fixture.patch(
    'poddisruptionbudgets',
    name,
    { status: { ...seen, expectedPods: 2, ...status } },
    { subresource: 'status' },
  );
}

const evict = (name: string, deleteOptions?: object, dryRun = false) =>
  fixture.post('pods', name, 'eviction', deleteOptions === undefined ? {} : { deleteOptions }, { dryRun });

async function causeOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error('expected a refusal');
  const { code, reason, message, details } = error.status;
  return { code, reason, message, cause: details?.causes?.[0]?.message, after: details?.retryAfterSeconds };
}

const allowed = async (name = 'b') =>
  (await fixture.get('poddisruptionbudgets', name)).status?.disruptionsAllowed;

const isGoing = async (name: string) =>
  (await fixture.get('pods', name)).metadata.deletionTimestamp !== undefined;

describe('a budget with disruptions allowed', () => {
  test('is decremented, records the pod, and reports when none are left', async () => {
    await makePod('p');
    await makeBudget('b');
    expect(await evict('p')).toMatchObject({ status: 'Success', code: 201 });
    const { status, metadata } = await fixture.get('poddisruptionbudgets', 'b');
    expect(status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p: expect.any(String) },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
    expect(metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'kube-apiserver', subresource: 'status' }),
    );
    const { metadata: pod, status: podStatus } = await fixture.get('pods', 'p');
    expect(pod).toMatchObject({ deletionGracePeriodSeconds: 30, generation: 2 });
    expect(podStatus?.conditions).toMatchObject([
      { type: 'Ready' },
      { type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' },
    ]);
  });

  test('does not report exhaustion while some are left', async () => {
    await makePod('p');
    await makeBudget('b', { disruptionsAllowed: 2 });
    await evict('p');
    expect(await allowed()).toBe(1);
    expect((await fixture.get('poddisruptionbudgets', 'b')).status).not.toHaveProperty('conditions');
  });

  test('is not used by two concurrent evictions', async () => {
    await makePod('p');
    await makePod('q');
    await makeBudget('b');
    const both = await Promise.allSettled([evict('p'), evict('q')]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect([await allowed(), await isGoing('p'), await isGoing('q')]).toEqual([0, true, false]);
  });

  test('is not decremented if the deletion is refused', async () => {
    await makePod('p');
    await makeBudget('b');
    const before = fixture.store.revision;
    expect(await errorOf(evict('p', { preconditions: { uid: 'other' } }))).toMatch(
      /^Conflict: Operation cannot be fulfilled on Pod "p": the UID in the precondition/,
    );
    expect(await errorOf(evict('p', { propagationPolicy: 'Sideways' }))).toMatch(/^Invalid: /);
    expect(fixture.store.revision).toBe(before);
  });

  test('is not decremented by a dry run, in the request or in the options', async () => {
    await makePod('p');
    await makeBudget('b');
    const before = fixture.store.revision;
    await evict('p', undefined, true);
    await evict('p', { dryRun: ['All'] });
    expect(fixture.store.revision).toBe(before);
  });
});

test('all writes are committed together or not at all', async () => {
  await makePod('p');
  await makeBudget('b');
  fixture.gate.shut();
  const outcome = evict('p').catch((error: Error) => error.message);
  const revision = fixture.store.revision;
  await settle();
  expect(fixture.store.revision).toBe(revision);
  fixture.gate.fail(new Error('the disk is full'));
  expect(await outcome).toBe('the disk is full');
  fixture.gate.open();
  expect([await allowed(), await isGoing('p')]).toEqual([1, false]);
});

test('the version precondition refers to the state before the eviction', async () => {
  await makePod('p');
  const { resourceVersion } = (await fixture.get('pods', 'p')).metadata;
  await evict('p', { preconditions: { resourceVersion } });
  expect(await isGoing('p')).toBe(true);
});

test('a second eviction writes nothing', async () => {
  await makePod('p');
  await evict('p');
  const before = fixture.store.revision;
  await evict('p');
  expect(fixture.store.revision).toBe(before);
});

describe('pods that no budget protects', () => {
  test.each(['Pending', 'Succeeded', 'Failed'])('one that is %s', async (phase) => {
    await makePod('p', { phase });
    await makeBudget('b', { disruptionsAllowed: 0 });
    await evict('p', { gracePeriodSeconds: 0 });
    expect(await errorOf(fixture.get('pods', 'p'))).toMatch(/^NotFound/);
  });

  const unready = [
    { policy: undefined, currentHealthy: 1, goes: true },
    { policy: 'IfHealthyBudget', currentHealthy: 1, goes: true },
    { policy: 'IfHealthyBudget', currentHealthy: 0, goes: false },
    { policy: 'AlwaysAllow', currentHealthy: 0, goes: true },
  ];
  test.each(unready)('one that is not ready: $policy, $currentHealthy of 1 healthy', async (scenario) => {
    const { policy, currentHealthy, goes } = scenario;
    await makePod('p', { ready: 'False' });
    const spec = policy === undefined ? {} : { unhealthyPodEvictionPolicy: policy };
    await makeBudget('b', { disruptionsAllowed: 0, currentHealthy }, spec);
    const outcome = await evict('p').then(
      () => true,
      () => false,
    );
    expect([outcome, await isGoing('p'), await allowed()]).toEqual([goes, goes, 0]);
  });

  test('one that the budget does not select', async () => {
    await makePod('p');
    await makeBudget('b', { disruptionsAllowed: 0 }, { selector: { matchLabels: { app: 'other' } } });
    await evict('p');
    expect(await isGoing('p')).toBe(true);
  });
});

const violates = "Cannot evict pod as it would violate the pod's disruption budget.";
const condition = (reason: string, message: string) => ({
  conditions: [
    {
      type: 'DisruptionAllowed',
      status: 'False',
      reason,
      message,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
});

describe('a budget that refuses', () => {
  test.each([
    [{ observedGeneration: 0 }, 'The disruption budget b is still being processed by the server.', 10],
    [
      { disruptionsAllowed: 0, currentHealthy: 1 },
      'The disruption budget b needs 1 healthy pods and has 1 currently',
      undefined,
    ],
    [
      { disruptionsAllowed: 0, ...condition('SyncFailed', 'no scale') },
      'The disruption budget b does not allow evicting pods currently because it failed sync: no scale',
      undefined,
    ],
    [
      { disruptionsAllowed: 0, ...condition('Whim', 'not today') },
      'The disruption budget b does not allow evicting pods currently (Whim): not today',
      undefined,
    ],
    [{ disruptionsAllowed: 0 }, 'The disruption budget b does not allow evicting pods currently', undefined],
  ])('%j', async (status, cause, after) => {
    await makePod('p');
    await makeBudget('b', status);
    expect(await causeOf(evict('p'))).toEqual({
      code: 429,
      reason: 'TooManyRequests',
      message: violates,
      cause,
      after,
    });
    expect(await isGoing('p')).toBe(false);
  });

  test('too many pending evictions', async () => {
    await makePod('p');
    const disruptedPods = Object.fromEntries(
      Array.from({ length: 2001 }, (_, index) => [`p${index}`, '2026-01-01T00:00:00Z']),
    );
    await makeBudget('b', { disruptedPods });
    expect(await errorOf(evict('p'))).toBe(
      'Forbidden: poddisruptionbudget.policy "b" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    );
  });

  test('several budgets for one pod are an error', async () => {
    await makePod('p');
    await makeBudget('b');
    await makeBudget('c');
    expect(await evict('p')).toMatchObject({ status: 'Failure', code: 500 });
    expect([await allowed('b'), await allowed('c'), await isGoing('p')]).toEqual([1, 1, false]);
  });
});

test('the name in the body must match the path, and the pod must exist', async () => {
  await makePod('p');
  const other = fixture.post('pods', 'p', 'eviction', { metadata: { name: 'q' } });
  expect(await errorOf(other)).toBe('BadRequest: name in URL does not match name in Eviction object');
  expect(await errorOf(evict('q'))).toBe('NotFound: pods "q" not found');
});

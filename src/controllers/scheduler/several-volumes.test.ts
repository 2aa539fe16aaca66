import { expect, test } from 'vitest';
import { delayWatch, isObjectWrite, onlyFor, recordCalls } from '../../cluster/testing/fault-hooks.ts';
import { type ClusterCall, InterceptedCluster } from '../../cluster/testing/intercepted-cluster.ts';
import { failure } from '../../kube/api-error.ts';
import { persistentVolumes } from '../../kube/resources.ts';
import { claimRefs, observeVolumesOnce, runController, startBinding } from './testing/binding-fixture.ts';
import { FakeProvisioner } from './testing/fake-provisioner.ts';
import type { SchedulerFixture } from './testing/scheduler-fixture.ts';

const made = { storageClassName: 'made' };
const broken = () => failure(500, 'InternalError', 'etcd is away');

/** n1 has two disks and n2 has one; the write of the second disk on n1 goes wrong as `trouble` says. */
async function twoDisksAndOne(trouble: (write: ClusterCall) => unknown, beside: readonly string[]) {
  let intercepted: InterceptedCluster | undefined;
  let writes: readonly ClusterCall[] = [];
  let repair = () => {};
  const way = (cluster: SchedulerFixture['cluster']) => {
    intercepted = new InterceptedCluster(cluster);
    writes = recordCalls(intercepted, isObjectWrite);
    repair = intercepted.addHooks({ before: (call) => (isDisk(call, 'd1b') ? trouble(call) : undefined) });
    return intercepted;
  };
  const fixture = await startBinding({ controllers: beside, wrapCluster: way });
  await fixture.disk('d1a', '10Gi', 'n1');
  await fixture.disk('d1b', '20Gi', 'n1');
  await fixture.disk('d2', '10Gi', 'n2');
  if (!beside.includes('pv-binder')) await observeVolumesOnce(fixture);
  await fixture.claim('small', '10Gi');
  await fixture.claim('large', '20Gi');
  return { fixture, intercepted: intercepted!, writes, repair };
}

function isDisk(call: ClusterCall, disk: string): boolean {
  const { resource, name } = call;
  return isObjectWrite(call) && resource.plural === 'persistentvolumes' && name === disk;
}

test('when the second of two claimRefs fails, the first is taken back', async () => {
  const { fixture, writes, repair } = await twoDisksAndOne(() => {
    throw broken();
  }, []);
  await using _ = fixture;
  await fixture.pod('both', ['small', 'large']);
  await fixture.settle(1_000);
  expect(writes.map(({ name }) => name)).toEqual(expect.arrayContaining(['d1a', 'd1b']));
  expect(await claimRefs(fixture)).toEqual([]);
  expect(await fixture.eventsOf('both')).toContainEqual('FailedScheduling: etcd is away');
  // The disk that was given back is there for others.
  await fixture.claim('single', '10Gi', { selector: { matchLabels: {} } });
  await fixture.pod('one', ['single'], { spec: { nodeSelector: { 'kubernetes.io/hostname': 'n2' } } });
  repair();
  runController(fixture, 'pv-binder');
  await fixture.settle(5_000);
  expect(await fixture.summary()).toEqual(
    [
      'claim large has d1b',
      'claim small has d1a',
      'claim single has d2',
      'disk d1a Bound to small',
      'disk d1b Bound to large',
      'disk d2 Bound to single',
      'pod both on n1',
      'pod one on n2',
    ].sort(),
  );
  expect((await fixture.eventsOf('both')).filter((line) => line.startsWith('VolumesKept'))).toEqual([]);
});

test('a binding that was complete before it could be taken back is kept and reported, and the pod goes on from there', async () => {
  let failures = 0;
  let clock: SchedulerFixture['environment']['clock'] | undefined;
  const { fixture } = await twoDisksAndOne(async () => {
    failures += 1;
    if (failures > 3) return;
    await clock!.sleep(200, new AbortController().signal);
    throw broken();
  }, ['pv-binder']);
  await using _ = fixture;
  clock = fixture.environment.clock;
  await fixture.pod('both', ['small', 'large']);
  await fixture.settle(1_500);
  expect(await fixture.eventsOf('both')).toContainEqual(
    expect.stringMatching(/^VolumesKept: claim default\/small stays bound to volume d1a:/),
  );
  await fixture.settle(3_000);
  expect(await fixture.summary()).toEqual([
    'claim large has d1b',
    'claim small has d1a',
    'disk d1a Bound to small',
    'disk d1b Bound to large',
    'disk d2 Available to no claim',
    'pod both on n1',
  ]);
});

test.each([
  {
    name: 'its answer got lost',
    when: 'after',
    trouble: () => {
      throw broken();
    },
  },
  {
    name: 'the server had a hiccup',
    when: 'before',
    trouble: () => {
      throw broken();
    },
  },
  {
    name: 'somebody added a word to the volume',
    when: 'before',
    trouble: async (fixture: SchedulerFixture) => {
      const body = { metadata: { annotations: { 'example.com/rack': '7' } } };
      await fixture.cluster.resource(persistentVolumes).patch({ name: 'd1b' }, { type: 'merge', body });
    },
  },
])('a claimRef is written all the same when $name', async ({ when, trouble }) => {
  const { fixture, intercepted } = await twoDisksAndOne(() => undefined, ['pv-binder']);
  await using _ = fixture;
  let isOver = false;
  const once = async (write: ClusterCall) => {
    if (isOver || !isDisk(write, 'd1b')) return;
    isOver = true;
    await trouble(fixture);
  };
  // News is slower than answers, as it may be anywhere.
  const never = new AbortController().signal;
  intercepted.addHooks({ [when]: once });
  intercepted.addHooks(delayWatch(() => fixture.environment.clock.sleep(30, never)));
  await fixture.pod('both', ['small', 'large']);
  await fixture.settle();
  expect(isOver).toBe(true);
  expect(await fixture.eventsOf('both')).toEqual(['Scheduled: Successfully assigned default/both to n1']);
});

test('taking back is tried again when the server does not answer', async () => {
  let failures = 0;
  const { fixture, intercepted, writes } = await twoDisksAndOne(() => undefined, []);
  await using _ = fixture;
  intercepted.addHooks(
    onlyFor(isObjectWrite, {
      before: (write) => {
        if (isDisk(write, 'd1b')) throw broken();
        // The first write to d1a is the claimRef; the second one, that takes it back, fails.
        const isTakingBack = isDisk(write, 'd1a') && writes.filter((one) => isDisk(one, 'd1a')).length === 2;
        if (!isTakingBack) return;
        failures += 1;
        throw broken();
      },
    }),
  );
  await fixture.pod('both', ['small', 'large']);
  await fixture.settle(650);
  expect(failures).toBe(1);
  expect(await claimRefs(fixture)).toEqual(['d1a small']);
  await fixture.settle(200);
  expect(await claimRefs(fixture)).toEqual([]);
});

test('nothing is claimed among existing volumes before every new volume is there', async () => {
  const maker = new FakeProvisioner();
  maker.outcome = () => 'waits';
  await using fixture = await startBinding({ provisioner: maker });
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('old', '5Gi');
  await fixture.claim('new', '5Gi', made);
  await fixture.pod('web', ['old', 'new']);
  await fixture.settle(30_000);
  expect(maker.requests).toEqual(['new n1']);
  expect(await claimRefs(fixture)).toEqual([]);
  maker.continue();
  await fixture.settle();
  expect(await fixture.place('web')).toBe('n1');
  expect(await claimRefs(fixture)).toHaveLength(2);
});

test('a refused new volume leaves the existing ones for others, and the pod goes elsewhere whole', async () => {
  const maker = new FakeProvisioner();
  maker.outcome = (_, node) => (node === 'n1' ? 'refuses' : 'makes');
  await using fixture = await startBinding({ provisioner: maker });
  // The smaller disk is the better fit, so the pod tries n1 first.
  await fixture.disk('d1', '5Gi', 'n1');
  await fixture.disk('d2', '50Gi', 'n2');
  await fixture.claim('old', '5Gi');
  await fixture.claim('new', '5Gi', made);
  await fixture.pod('web', ['old', 'new']);
  await fixture.settle(5_000);
  expect(await fixture.place('web')).toBe('n2');
  expect(await fixture.summary()).toContain('disk d1 Available to no claim');
});

import { expect, test } from 'vitest';
import { type ClusterCall, InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { delayWatch, isObjectWrite, onlyFor, recordCalls } from '../../cluster/testing/fault-hooks.ts';
import { failure } from '../../kube/api-error.ts';
import { persistentVolumes } from '../../kube/resources.ts';
import { claimRefs, observeVolumesOnce, runController, startBinding } from './testing/binding-fixture.ts';
import { FakeProvisioner } from './testing/fake-provisioner.ts';
import type { SchedulerFixture } from './testing/scheduler-fixture.ts';

const provisioned = { storageClassName: 'provisioned' };
const broken = () => failure(500, 'InternalError', 'etcd is away');

/** n1 has two disks and n2 has one; `fault` decides how the write of the second disk on n1 fails. */
async function twoDisksAndOne(fault: (write: ClusterCall) => unknown, controllers: readonly string[]) {
  let intercepted: InterceptedCluster | undefined;
  let writes: readonly ClusterCall[] = [];
  let repair = () => {};
  const wrapCluster = (cluster: SchedulerFixture['cluster']) => {
    intercepted = new InterceptedCluster(cluster);
    writes = recordCalls(intercepted, isObjectWrite);
    repair = intercepted.addHooks({ before: (call) => (isDisk(call, 'd1b') ? fault(call) : undefined) });
    return intercepted;
  };
  const fixture = await startBinding({ controllers, wrapCluster });
  await fixture.disk('d1a', '10Gi', 'n1');
  await fixture.disk('d1b', '20Gi', 'n1');
  await fixture.disk('d2', '10Gi', 'n2');
  if (!controllers.includes('pv-binder')) await observeVolumesOnce(fixture);
  await fixture.claim('small', '10Gi');
  await fixture.claim('large', '20Gi');
  return { fixture, intercepted: intercepted!, writes, repair };
}

function isDisk(call: ClusterCall, disk: string): boolean {
  const { resource, name } = call;
  return isObjectWrite(call) && resource.plural === 'persistentvolumes' && name === disk;
}

test('when the second of two claimRefs fails, the first is withdrawn', async () => {
  const { fixture, writes, repair } = await twoDisksAndOne(() => {
    throw broken();
  }, []);
  await using _ = fixture;
  await fixture.pod('both', ['small', 'large']);
  await fixture.settle(1_000);
  expect(writes.map(({ name }) => name)).toEqual(expect.arrayContaining(['d1a', 'd1b']));
  expect(await claimRefs(fixture)).toEqual([]);
  expect(await fixture.eventsOf('both')).toContainEqual('FailedScheduling: etcd is away');
  // The disk without the claimRef is free for other claims.
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

test('a binding that was complete before it could be undone is kept and reported, and the pod follows it', async () => {
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
    name: 'its response is lost',
    when: 'after',
    fault: () => {
      throw broken();
    },
  },
  {
    name: 'the server returns a temporary error',
    when: 'before',
    fault: () => {
      throw broken();
    },
  },
  {
    name: 'another client annotates the volume',
    when: 'before',
    fault: async (fixture: SchedulerFixture) => {
      const body = { metadata: { annotations: { 'example.com/rack': '7' } } };
      await fixture.cluster.resource(persistentVolumes).patch({ name: 'd1b' }, { type: 'merge', body });
    },
  },
])('a claimRef is written even if $name', async ({ when, fault }) => {
  const { fixture, intercepted } = await twoDisksAndOne(() => undefined, ['pv-binder']);
  await using _ = fixture;
  let isOver = false;
  const once = async (write: ClusterCall) => {
    if (isOver || !isDisk(write, 'd1b')) return;
    isOver = true;
    await fault(fixture);
  };
  // Watch events may be slower than responses.
  const never = new AbortController().signal;
  intercepted.addHooks({ [when]: once });
  intercepted.addHooks(delayWatch(() => fixture.environment.clock.sleep(30, never)));
  await fixture.pod('both', ['small', 'large']);
  await fixture.settle();
  expect(isOver).toBe(true);
  expect(await fixture.eventsOf('both')).toEqual(['Scheduled: Successfully assigned default/both to n1']);
});

test('withdrawing a claimRef is retried when the server does not respond', async () => {
  let failures = 0;
  const { fixture, intercepted, writes } = await twoDisksAndOne(() => undefined, []);
  await using _ = fixture;
  intercepted.addHooks(
    onlyFor(isObjectWrite, {
      before: (write) => {
        if (isDisk(write, 'd1b')) throw broken();
        // The first write to d1a is the claimRef; the second one, which withdraws it, fails.
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

test('no claimRef is written before every new volume exists', async () => {
  const provisioner = new FakeProvisioner();
  provisioner.outcome = () => 'waits';
  await using fixture = await startBinding({ provisioner });
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('old', '5Gi');
  await fixture.claim('new', '5Gi', provisioned);
  await fixture.pod('web', ['old', 'new']);
  await fixture.settle(30_000);
  expect(provisioner.requests).toEqual(['new n1']);
  expect(await claimRefs(fixture)).toEqual([]);
  provisioner.continue();
  await fixture.settle();
  expect(await fixture.place('web')).toBe('n1');
  expect(await claimRefs(fixture)).toHaveLength(2);
});

test('if a new volume is refused, no existing one is claimed, and the pod goes elsewhere with all volumes', async () => {
  const provisioner = new FakeProvisioner();
  provisioner.outcome = (_, node) => (node === 'n1' ? 'refuses' : 'creates');
  await using fixture = await startBinding({ provisioner });
  // The smaller disk is the better fit, so the pod tries n1 first.
  await fixture.disk('d1', '5Gi', 'n1');
  await fixture.disk('d2', '50Gi', 'n2');
  await fixture.claim('old', '5Gi');
  await fixture.claim('new', '5Gi', provisioned);
  await fixture.pod('web', ['old', 'new']);
  await fixture.settle(5_000);
  expect(await fixture.place('web')).toBe('n2');
  expect(await fixture.summary()).toContain('disk d1 Available to no claim');
});

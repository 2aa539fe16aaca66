import { expect, test } from 'vitest';
import { failure } from '../../kube/api-error.ts';
import { persistentVolumes } from '../../kube/resources.ts';
import { claimRefs, runBeside, startBinding, withoutBinder } from './testing/binding-fixture.ts';
import { Maker } from './testing/maker.ts';
import type { SchedulerFixture } from './testing/scheduler-fixture.ts';
import { TroubledCluster, type Write } from './testing/troubled-cluster.ts';

const made = { storageClassName: 'made' };
const broken = () => failure(500, 'InternalError', 'etcd is away');

/** n1 has two disks and n2 has one; the write of the second disk on n1 goes wrong as `trouble` says. */
async function twoDisksAndOne(trouble: (write: Write) => unknown, beside: readonly string[]) {
  let troubled: TroubledCluster | undefined;
  const way = (cluster: SchedulerFixture['cluster']) => {
    troubled = new TroubledCluster(cluster);
    troubled.troubles = { before: (write) => (isDisk(write, 'd1b') ? trouble(write) : undefined) };
    return troubled;
  };
  const fixture = await startBinding({ beside, way });
  await fixture.disk('d1a', '10Gi', 'n1');
  await fixture.disk('d1b', '20Gi', 'n1');
  await fixture.disk('d2', '10Gi', 'n2');
  if (!beside.includes('pv-binder')) await withoutBinder(fixture);
  await fixture.claim('small', '10Gi');
  await fixture.claim('large', '20Gi');
  return { fixture, troubled: troubled! };
}

function isDisk({ plural, name }: Write, disk: string): boolean {
  return plural === 'persistentvolumes' && name === disk;
}

test('when the second of two claimRefs fails, the first is taken back', async () => {
  const { fixture, troubled } = await twoDisksAndOne(() => {
    throw broken();
  }, []);
  await using _ = fixture;
  await fixture.pod('both', ['small', 'large']);
  await fixture.settle(1_000);
  expect(troubled.writes.map(({ name }) => name)).toEqual(expect.arrayContaining(['d1a', 'd1b']));
  expect(await claimRefs(fixture)).toEqual([]);
  expect(await fixture.toldOf('both')).toContainEqual('FailedScheduling: etcd is away');
  // The disk that was given back is there for others.
  await fixture.claim('single', '10Gi', { selector: { matchLabels: {} } });
  await fixture.pod('one', ['single'], { spec: { nodeSelector: { 'kubernetes.io/hostname': 'n2' } } });
  troubled.troubles = {};
  runBeside(fixture, 'pv-binder');
  await fixture.settle(5_000);
  expect(await fixture.lines()).toEqual(
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
  expect((await fixture.toldOf('both')).filter((line) => line.startsWith('VolumesKept'))).toEqual([]);
});

test('a binding that was complete before it could be taken back is kept and reported, and the pod goes on from there', async () => {
  let failures = 0;
  let clock: SchedulerFixture['trial']['clock'] | undefined;
  const { fixture } = await twoDisksAndOne(async () => {
    failures += 1;
    if (failures > 3) return;
    await clock!.sleep(200, new AbortController().signal);
    throw broken();
  }, ['pv-binder']);
  await using _ = fixture;
  clock = fixture.trial.clock;
  await fixture.pod('both', ['small', 'large']);
  await fixture.settle(1_500);
  expect(await fixture.toldOf('both')).toContainEqual(
    expect.stringMatching(/^VolumesKept: claim default\/small stays bound to volume d1a:/),
  );
  await fixture.settle(3_000);
  expect(await fixture.lines()).toEqual([
    'claim large has d1b',
    'claim small has d1a',
    'disk d1a Bound to small',
    'disk d1b Bound to large',
    'disk d2 Available to nobody',
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
  const { fixture, troubled } = await twoDisksAndOne(() => undefined, ['pv-binder']);
  await using _ = fixture;
  let isOver = false;
  const once = async (write: Write) => {
    if (isOver || !isDisk(write, 'd1b')) return;
    isOver = true;
    await trouble(fixture);
  };
  // News is slower than answers, as it may be anywhere.
  const never = new AbortController().signal;
  troubled.troubles = { [when]: once, news: () => fixture.trial.clock.sleep(30, never) };
  await fixture.pod('both', ['small', 'large']);
  await fixture.settle();
  expect(isOver).toBe(true);
  expect(await fixture.toldOf('both')).toEqual(['Scheduled: Successfully assigned default/both to n1']);
});

test('taking back is tried again when the server does not answer', async () => {
  let failures = 0;
  const { fixture, troubled } = await twoDisksAndOne(() => undefined, []);
  await using _ = fixture;
  troubled.troubles = {
    before: (write) => {
      if (isDisk(write, 'd1b')) throw broken();
      // The first write to d1a is the claimRef; the second one, that takes it back, fails.
      const isTakingBack =
        isDisk(write, 'd1a') && troubled.writes.filter((one) => isDisk(one, 'd1a')).length === 2;
      if (!isTakingBack) return;
      failures += 1;
      throw broken();
    },
  };
  await fixture.pod('both', ['small', 'large']);
  await fixture.settle(650);
  expect(failures).toBe(1);
  expect(await claimRefs(fixture)).toEqual(['d1a small']);
  await fixture.settle(200);
  expect(await claimRefs(fixture)).toEqual([]);
});

test('nothing is claimed among existing volumes before every new volume is there', async () => {
  const maker = new Maker();
  maker.answer = () => 'waits';
  await using fixture = await startBinding({ maker });
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('old', '5Gi');
  await fixture.claim('new', '5Gi', made);
  await fixture.pod('web', ['old', 'new']);
  await fixture.settle(30_000);
  expect(maker.asked).toEqual(['new n1']);
  expect(await claimRefs(fixture)).toEqual([]);
  maker.release();
  await fixture.settle();
  expect(await fixture.place('web')).toBe('n1');
  expect(await claimRefs(fixture)).toHaveLength(2);
});

test('a refused new volume leaves the existing ones for others, and the pod goes elsewhere whole', async () => {
  const maker = new Maker();
  maker.answer = (_, node) => (node === 'n1' ? 'refuses' : 'makes');
  await using fixture = await startBinding({ maker });
  // The smaller disk is the better fit, so the pod tries n1 first.
  await fixture.disk('d1', '5Gi', 'n1');
  await fixture.disk('d2', '50Gi', 'n2');
  await fixture.claim('old', '5Gi');
  await fixture.claim('new', '5Gi', made);
  await fixture.pod('web', ['old', 'new']);
  await fixture.settle(5_000);
  expect(await fixture.place('web')).toBe('n2');
  expect(await fixture.lines()).toContain('disk d1 Available to nobody');
});

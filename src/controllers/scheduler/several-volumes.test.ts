import { expect, test } from 'vitest';
import { failure } from '../../kube/api-error.ts';
import { persistentVolumes } from '../../kube/resources.ts';
import { claimRefs, runBeside, startBinding, withoutBinder } from './testing/binding-world.ts';
import { Maker } from './testing/maker.ts';
import type { SchedulerWorld } from './testing/scheduler-world.ts';
import { TroubledCluster, type Write } from './testing/troubled-cluster.ts';

const made = { storageClassName: 'made' };
const broken = () => failure(500, 'InternalError', 'etcd is away');

/** n1 has two disks and n2 has one; the write of the second disk on n1 goes wrong as `trouble` says. */
async function twoDisksAndOne(trouble: (write: Write) => unknown, beside: readonly string[]) {
  let troubled: TroubledCluster | undefined;
  const way = (cluster: SchedulerWorld['cluster']) => {
    troubled = new TroubledCluster(cluster);
    troubled.troubles = { before: (write) => (isDisk(write, 'd1b') ? trouble(write) : undefined) };
    return troubled;
  };
  const world = await startBinding({ beside, way });
  await world.disk('d1a', '10Gi', 'n1');
  await world.disk('d1b', '20Gi', 'n1');
  await world.disk('d2', '10Gi', 'n2');
  if (!beside.includes('pv-binder')) await withoutBinder(world);
  await world.claim('small', '10Gi');
  await world.claim('large', '20Gi');
  return { world, troubled: troubled! };
}

function isDisk({ plural, name }: Write, disk: string): boolean {
  return plural === 'persistentvolumes' && name === disk;
}

test('when the second of two claimRefs fails, the first is taken back', async () => {
  const { world, troubled } = await twoDisksAndOne(() => {
    throw broken();
  }, []);
  await using _ = world;
  await world.pod('both', ['small', 'large']);
  await world.settle(1_000);
  expect(troubled.writes.map(({ name }) => name)).toEqual(expect.arrayContaining(['d1a', 'd1b']));
  expect(await claimRefs(world)).toEqual([]);
  expect(await world.toldOf('both')).toContainEqual('FailedScheduling: etcd is away');
  // The disk that was given back is there for others.
  await world.claim('single', '10Gi', { selector: { matchLabels: {} } });
  await world.pod('one', ['single'], { spec: { nodeSelector: { 'kubernetes.io/hostname': 'n2' } } });
  troubled.troubles = {};
  runBeside(world, 'pv-binder');
  await world.settle(5_000);
  expect(await world.lines()).toEqual(
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
  expect((await world.toldOf('both')).filter((line) => line.startsWith('VolumesKept'))).toEqual([]);
});

test('a binding that was complete before it could be taken back is kept and reported, and the pod goes on from there', async () => {
  let failures = 0;
  let clock: SchedulerWorld['trial']['clock'] | undefined;
  const { world } = await twoDisksAndOne(async () => {
    failures += 1;
    if (failures > 3) return;
    await clock!.sleep(200, new AbortController().signal);
    throw broken();
  }, ['pv-binder']);
  await using _ = world;
  clock = world.trial.clock;
  await world.pod('both', ['small', 'large']);
  await world.settle(1_500);
  expect(await world.toldOf('both')).toContainEqual(
    expect.stringMatching(/^VolumesKept: claim default\/small stays bound to volume d1a:/),
  );
  await world.settle(3_000);
  expect(await world.lines()).toEqual([
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
    trouble: async (world: SchedulerWorld) => {
      const body = { metadata: { annotations: { 'example.com/rack': '7' } } };
      await world.cluster.resource(persistentVolumes).patch({ name: 'd1b' }, { type: 'merge', body });
    },
  },
])('a claimRef is written all the same when $name', async ({ when, trouble }) => {
  const { world, troubled } = await twoDisksAndOne(() => undefined, ['pv-binder']);
  await using _ = world;
  let isOver = false;
  const once = async (write: Write) => {
    if (isOver || !isDisk(write, 'd1b')) return;
    isOver = true;
    await trouble(world);
  };
  // News is slower than answers, as it may be anywhere.
  const never = new AbortController().signal;
  troubled.troubles = { [when]: once, news: () => world.trial.clock.sleep(30, never) };
  await world.pod('both', ['small', 'large']);
  await world.settle();
  expect(isOver).toBe(true);
  expect(await world.toldOf('both')).toEqual(['Scheduled: Successfully assigned default/both to n1']);
});

test('taking back is tried again when the server does not answer', async () => {
  let failures = 0;
  const { world, troubled } = await twoDisksAndOne(() => undefined, []);
  await using _ = world;
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
  await world.pod('both', ['small', 'large']);
  await world.settle(650);
  expect(failures).toBe(1);
  expect(await claimRefs(world)).toEqual(['d1a small']);
  await world.settle(200);
  expect(await claimRefs(world)).toEqual([]);
});

test('nothing is claimed among existing volumes before every new volume is there', async () => {
  const maker = new Maker();
  maker.answer = () => 'waits';
  await using world = await startBinding({ maker });
  await world.disk('d1', '10Gi', 'n1');
  await world.claim('old', '5Gi');
  await world.claim('new', '5Gi', made);
  await world.pod('web', ['old', 'new']);
  await world.settle(30_000);
  expect(maker.asked).toEqual(['new n1']);
  expect(await claimRefs(world)).toEqual([]);
  maker.release();
  await world.settle();
  expect(await world.place('web')).toBe('n1');
  expect(await claimRefs(world)).toHaveLength(2);
});

test('a refused new volume leaves the existing ones for others, and the pod goes elsewhere whole', async () => {
  const maker = new Maker();
  maker.answer = (_, node) => (node === 'n1' ? 'refuses' : 'makes');
  await using world = await startBinding({ maker });
  // The smaller disk is the better fit, so the pod tries n1 first.
  await world.disk('d1', '5Gi', 'n1');
  await world.disk('d2', '50Gi', 'n2');
  await world.claim('old', '5Gi');
  await world.claim('new', '5Gi', made);
  await world.pod('web', ['old', 'new']);
  await world.settle(5_000);
  expect(await world.place('web')).toBe('n2');
  expect(await world.lines()).toContain('disk d1 Available to nobody');
});

import { expect, test } from 'vitest';
import { type LogLevel, lineLog } from '../../runtime/log.ts';
import { TrialCluster } from '../testing/trial-cluster.ts';
import { SchedulerWorld } from './testing/scheduler-world.ts';

async function scheduling(level: LogLevel) {
  const lines: Record<string, unknown>[] = [];
  const trial = await TrialCluster.start();
  const write = (line: string) => lines.push(JSON.parse(line));
  trial.log = lineLog({ level, format: 'json', clock: trial.clock, write });
  const world = new SchedulerWorld(trial);
  await world.furnish(['n1']);
  world.resume();
  return { world, lines };
}

test('each decision is a line at debug, and how it came out another one with the same trace', async () => {
  const { world, lines } = await scheduling('debug');
  await using _ = world;
  await world.pod('fits');
  await world.settle();
  await world.claim('data', '1Gi');
  await world.pod('waits', ['data']);
  await world.settle();
  const [decided, bound, refused] = lines;
  expect(decided).toMatchObject({
    level: 'debug',
    message: 'decided',
    pod: 'default/fits',
    attempt: 1,
    cause: 'new',
    result: 'scheduled',
    node: 'n1',
    trace: expect.stringMatching(/^[0-9a-f-]{36}\/1$/),
    durationMs: expect.any(Number),
  });
  expect(bound).toMatchObject({ message: 'bound', pod: 'default/fits', node: 'n1', trace: decided?.trace });
  expect(refused).toMatchObject({
    message: 'decided',
    pod: 'default/waits',
    result: 'unschedulable',
    why: expect.stringMatching(/^0\/1 nodes are available: /),
  });
  expect(refused).not.toHaveProperty('node');
  expect(lines).toHaveLength(3);
});

test('nothing of it is written at info', async () => {
  const { world, lines } = await scheduling('info');
  await using _ = world;
  await world.pod('fits');
  await world.settle();
  expect(lines).toEqual([]);
});

test('what is reserved can be seen while it is, and where pods wait', async () => {
  const { world } = await scheduling('info');
  await using _ = world;
  await world.storageClass('slow', { provisioner: 'slow.example.com' });
  await world.disk('disk', '2Gi', 'n1');
  await world.claim('existing', '1Gi');
  await world.claim('made', '1Gi', { storageClassName: 'slow' });
  await world.pod('binding', ['existing', 'made']);
  await world.claim('huge', '1Ti');
  await world.pod('waiting', ['huge']);
  await world.settle();
  const page = world.trial.metrics.render();
  for (const line of ['binding_pods 1', 'reserved_pods 1', 'reserved_volumes 1', 'promised_bytes 1073741824'])
    expect(page).toContain(`\nstowage_scheduler_${line}\n`);
  expect(page).toContain('\nstowage_scheduler_pending_pods{queue="unschedulable"} 1\n');
});

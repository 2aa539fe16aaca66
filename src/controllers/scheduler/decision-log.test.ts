import { expect, test } from 'vitest';
import { type LogLevel, lineLog } from '../../runtime/log.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { SchedulerFixture } from './testing/scheduler-fixture.ts';

async function scheduling(level: LogLevel) {
  const lines: Record<string, unknown>[] = [];
  const environment = await VirtualTimeCluster.start();
  const write = (line: string) => lines.push(JSON.parse(line));
  environment.log = lineLog({ level, format: 'json', clock: environment.clock, write });
  const fixture = new SchedulerFixture(environment);
  await fixture.seed(['n1']);
  fixture.startControllers();
  return { fixture, lines };
}

test('each decision is logged at debug, and its outcome with the same trace', async () => {
  const { fixture, lines } = await scheduling('debug');
  await using _ = fixture;
  await fixture.pod('fits');
  await fixture.settle();
  await fixture.claim('data', '1Gi');
  await fixture.pod('waits', ['data']);
  await fixture.settle();
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

test('decisions are not logged at info', async () => {
  const { fixture, lines } = await scheduling('info');
  await using _ = fixture;
  await fixture.pod('fits');
  await fixture.settle();
  expect(lines).toEqual([]);
});

test('metrics show what is reserved, and where pods wait', async () => {
  const { fixture } = await scheduling('info');
  await using _ = fixture;
  await fixture.storageClass('slow', { provisioner: 'slow.example.com' });
  await fixture.disk('disk', '2Gi', 'n1');
  await fixture.claim('existing', '1Gi');
  await fixture.claim('provisioned', '1Gi', { storageClassName: 'slow' });
  await fixture.pod('binding', ['existing', 'provisioned']);
  await fixture.claim('huge', '1Ti');
  await fixture.pod('waiting', ['huge']);
  await fixture.settle();
  const page = fixture.environment.metrics.render();
  for (const line of ['binding_pods 1', 'reserved_pods 1', 'reserved_volumes 1', 'promised_bytes 1073741824'])
    expect(page).toContain(`\nstowage_scheduler_${line}\n`);
  expect(page).toContain('\nstowage_scheduler_pending_pods{queue="unschedulable"} 1\n');
});

/** A pod whose volumes have been bound, but which has no node yet, does not lose the last slot of its node to another pod. */
import { expect, test } from 'vitest';
import { type ClusterCall, InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites, isObjectWrite, onlyFor } from '../../cluster/testing/fault-hooks.ts';
import { failure } from '../../kube/api-error.ts';
import { pods, priorityClasses } from '../../kube/resources.ts';
import { labels } from '../../kube/well-known.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import {
  pvControllerCompletes,
  runController,
  runProvisioner,
  runScheduler,
  schedulerCompletes,
  seedBinding,
} from './testing/binding-fixture.ts';
import { FakeProvisioner } from './testing/fake-provisioner.ts';
import { namespace, type PodOptions, SchedulerFixture } from './testing/scheduler-fixture.ts';

/** Node n4 has one slot and a disk; n5 has room, and no disk. */
async function oneSlot(): Promise<SchedulerFixture> {
  const fixture = new SchedulerFixture(await VirtualTimeCluster.start());
  await seedBinding(fixture, ['n5']);
  await fixture.node('n4', { allocatable: { pods: '1' } });
  await fixture.disk('d4', '5Gi', 'n4');
  for (const name of ['pv-binder', 'protection']) runController(fixture, name);
  runProvisioner(fixture, new FakeProvisioner());
  await fixture.settle();
  return fixture;
}

/** The pod `web` with these claims: its local volume can only be on n4. */
async function createWeb(fixture: SchedulerFixture, classes: readonly string[]): Promise<void> {
  for (const storageClassName of classes) await fixture.claim(storageClassName, '5Gi', { storageClassName });
  await fixture.pod('web', classes, classes.includes('local') ? {} : on('n4'));
}

function on(nodeName: string, rest: PodOptions['spec'] = {}): PodOptions {
  return { spec: { nodeSelector: { [labels.hostname]: nodeName }, ...rest } };
}

interface LeaderChange {
  readonly name: string;
  readonly classes: readonly string[];
  readonly completes: boolean;
  /** The writes of the first leader. */
  readonly writes: number;
}

const leaderChanges: readonly LeaderChange[] = [
  { name: 'the claimRef', classes: ['local'], completes: false, writes: 1 },
  { name: "the claim's volume", classes: ['local'], completes: true, writes: 2 },
  { name: 'the selected node', classes: ['provisioned'], completes: true, writes: 1 },
  { name: 'both volumes', classes: ['local', 'provisioned'], completes: true, writes: 3 },
];

test.each(leaderChanges)(
  'the leader ends after it has written $name: the next one decides that pod first',
  async ({ classes, completes, writes }) => {
    await using fixture = await oneSlot();
    const options = completes ? schedulerCompletes : pvControllerCompletes;
    const crash = new CrashAfterWrites(writes);
    const first = runScheduler(
      fixture,
      options,
      new InterceptedCluster(fixture.cluster, onlyFor(isObjectWrite, crash)),
    );
    await createWeb(fixture, classes);
    await crash.crashed;
    await first.close();
    // A list of the pods has it before `web`.
    await fixture.pod('a-rival', [], on('n4'));
    await fixture.settle();
    runScheduler(fixture, options);
    await fixture.settle(20_000);
    expect(await fixture.place('web')).toBe('n4');
    expect(await fixture.place('a-rival')).toMatch('Too many pods');
  },
);

test('a pod of higher priority is decided before a pod that has its volume', async () => {
  await using fixture = await oneSlot();
  await fixture.cluster.resource(priorityClasses).create({ metadata: { name: 'urgent' }, value: 1000 });
  const crash = new CrashAfterWrites(2);
  const first = runScheduler(
    fixture,
    schedulerCompletes,
    new InterceptedCluster(fixture.cluster, onlyFor(isObjectWrite, crash)),
  );
  await createWeb(fixture, ['local']);
  await crash.crashed;
  await first.close();
  await fixture.pod('z-urgent', [], on('n4', { priorityClassName: 'urgent' }));
  await fixture.settle();
  runScheduler(fixture, schedulerCompletes);
  await fixture.settle(20_000);
  expect(await fixture.place('z-urgent')).toBe('n4');
});

/** The API server, as the scheduler sees it. */
class Outage {
  /** These calls fail before they reach the server. */
  fails: (call: ClusterCall) => boolean = () => false;
  /** These calls take effect, but their response is lost, and the outage begins. */
  begins: (call: ClusterCall) => boolean = () => false;

  wrap({ cluster }: SchedulerFixture): InterceptedCluster {
    return new InterceptedCluster(cluster, {
      before: (call) => {
        if (call.verb !== 'watch' && this.fails(call)) throw this.#error();
      },
      after: (call) => {
        if (!this.begins(call)) return;
        this.fails = () => true;
        throw this.#error();
      },
    });
  }

  end(): void {
    this.fails = () => false;
    this.begins = () => false;
  }

  #error(): Error {
    return failure(503, 'ServiceUnavailable', 'the API server is restarting');
  }
}

test('the response to the claimRef is lost, and the server is away for half a minute', async () => {
  await using fixture = await oneSlot();
  const outage = new Outage();
  outage.begins = ({ verb, resource }) => verb === 'patch' && resource.plural === 'persistentvolumes';
  runScheduler(fixture, schedulerCompletes, outage.wrap(fixture));
  await createWeb(fixture, ['local']);
  await fixture.settle(8_000);
  await fixture.pod('rival', [], on('n4'));
  await fixture.settle(22_000);
  outage.end();
  await fixture.settle(60_000);
  expect(await fixture.place('web')).toBe('n4');
  expect(await fixture.place('rival')).toMatch('Too many pods');
});

test('its own binding fails, and its nomination cannot be written before the pod is changed', async () => {
  await using fixture = await oneSlot();
  const outage = new Outage();
  outage.fails = (call) => isObjectWrite(call) && call.resource.plural === 'pods';
  runScheduler(
    fixture,
    schedulerCompletes,
    new InterceptedCluster(fixture.cluster, {
      before: (call) => {
        if (outage.fails(call)) throw failure(422, 'Invalid', 'a webhook is broken');
      },
    }),
  );
  await createWeb(fixture, ['local']);
  await fixture.settle(1_000);
  const body = { metadata: { labels: { changed: 'yes' } } };
  await fixture.cluster.resource(pods).patch({ namespace, name: 'web' }, { type: 'merge', body });
  await fixture.settle(100);
  outage.end();
  await fixture.pod('rival', [], on('n4'));
  await fixture.settle(30_000);
  expect(await fixture.place('web')).toBe('n4');
  expect(await fixture.place('rival')).toMatch('Too many pods');
});

test('its binding fails, and its volumes were bound before it was decided', async () => {
  await using fixture = await oneSlot();
  await createWeb(fixture, ['local']);
  const first = runScheduler(
    fixture,
    schedulerCompletes,
    new InterceptedCluster(fixture.cluster, onlyFor(isObjectWrite, new CrashAfterWrites(2))),
  );
  await fixture.settle();
  await first.close();
  let bindings = 0;
  const refusing = new InterceptedCluster(fixture.cluster, {
    before: ({ verb }) => {
      bindings += verb === 'post' ? 1 : 0;
      if (verb === 'post' && bindings <= 3) throw failure(503, 'ServiceUnavailable', 'the server restarts');
    },
  });
  runScheduler(fixture, schedulerCompletes, refusing);
  await fixture.settle(1_000);
  await fixture.pod('rival', [], on('n4'));
  await fixture.settle(30_000);
  expect(await fixture.place('web')).toBe('n4');
  expect(await fixture.place('rival')).toMatch('Too many pods');
});

import { describe, expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { isObjectWrite, onlyFor } from '../../cluster/testing/fault-hooks.ts';
import { conflict } from '../../kube/api-error.ts';
import { events, persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { annotations, labels } from '../../kube/well-known.ts';
import { bindingCases } from './testing/binding-cases.ts';
import {
  annotateClaim,
  claimRefs,
  observeVolumesOnce,
  runController,
  runScheduler,
  schedulerCompletes,
  startBinding,
} from './testing/binding-fixture.ts';
import { FakeProvisioner } from './testing/fake-provisioner.ts';
import { crashAfterEveryWrite, failAtEveryWrite } from './testing/fault-at-every-write.ts';
import { namespace, type SchedulerFixture } from './testing/scheduler-fixture.ts';

/** The scheduler names the volume in the claim too, and the PV controller writes only the phases. */

async function twoDisks(fixture: SchedulerFixture): Promise<void> {
  await fixture.disk('d1', '1Gi', 'n2');
  await fixture.disk('d2', '2Gi', 'n2');
  await observeVolumesOnce(fixture);
  await fixture.claim('one', '1Gi');
  await fixture.claim('two', '2Gi');
}

test('a pod is bound before the PV controller has processed its volumes', async () => {
  await using fixture = await startBinding({ controllers: [], scheduler: schedulerCompletes });
  await twoDisks(fixture);
  await fixture.pod('web', ['one', 'two']);
  await fixture.settle();
  expect(await fixture.summary()).toEqual([
    'claim one has d1',
    'claim two has d2',
    'disk d1 Available to one',
    'disk d2 Available to two',
    'pod web on n2',
  ]);
  const claim = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'one' });
  expect(claim.metadata?.annotations).toMatchObject({
    [annotations.bindCompleted]: 'yes',
    [annotations.boundByController]: 'yes',
  });
  runController(fixture, 'pv-binder');
  await fixture.settle();
  expect(await fixture.summary()).toContain('disk d1 Bound to one');
});

test('all claimRefs of a pod are written before its first claim is completed', async () => {
  const written: string[] = [];
  const wrapCluster = (cluster: SchedulerFixture['cluster']) => {
    return new InterceptedCluster(
      cluster,
      onlyFor(isObjectWrite, { before: ({ resource }) => void written.push(resource.plural) }),
    );
  };
  await using fixture = await startBinding({
    controllers: [],
    scheduler: schedulerCompletes,
    wrapCluster,
  });
  await twoDisks(fixture);
  await fixture.pod('web', ['one', 'two']);
  await fixture.settle();
  expect(written).toEqual([
    'persistentvolumes',
    'persistentvolumes',
    'persistentvolumeclaims',
    'persistentvolumeclaims',
    'pods',
  ]);
});

test('no claim is completed if one claimRef could not be written', async () => {
  const wrapCluster = (cluster: SchedulerFixture['cluster']) => {
    let count = 0;
    return new InterceptedCluster(
      cluster,
      onlyFor(isObjectWrite, {
        before: ({ resource }) => {
          if (resource.plural === 'persistentvolumes' && count++ % 2 === 1)
            throw new Error('connection reset');
        },
      }),
    );
  };
  await using fixture = await startBinding({
    controllers: [],
    scheduler: schedulerCompletes,
    wrapCluster,
  });
  await twoDisks(fixture);
  await fixture.pod('web', ['one', 'two']);
  await fixture.settle(20);
  expect(await fixture.summary()).toEqual(
    expect.arrayContaining(['claim one has nothing', 'claim two has nothing']),
  );
  expect((await claimRefs(fixture)).length).toBeLessThan(2);
});

describe('a pod that is deleted before its volumes are bound', () => {
  /** Completing the claims fails while the PV controller is stopped, and then the pod is deleted. */
  async function deletedAfter(failure: Error): Promise<SchedulerFixture> {
    const wrapCluster = (cluster: SchedulerFixture['cluster']) => {
      return new InterceptedCluster(
        cluster,
        onlyFor(isObjectWrite, {
          before: ({ resource }) => {
            if (resource.plural === 'persistentvolumeclaims') throw failure;
          },
        }),
      );
    };
    const fixture = await startBinding({ controllers: [], scheduler: schedulerCompletes, wrapCluster });
    await twoDisks(fixture);
    await fixture.pod('web', ['one', 'two']);
    await fixture.settle();
    expect(await claimRefs(fixture)).toEqual(['d1 one', 'd2 two']);
    await fixture.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 0 });
    await fixture.settle(20_000);
    return fixture;
  }

  test('frees its volumes if the server refused to complete the claims', async () => {
    await using fixture = await deletedAfter(
      conflict(persistentVolumeClaims, 'one', 'another client was faster'),
    );
    expect(await claimRefs(fixture)).toEqual([]);
  });

  test('keeps them if no response came: a late write could name a volume that belongs to another claim, and the claim would be Lost', async () => {
    await using fixture = await deletedAfter(new Error('connection reset'));
    expect(await claimRefs(fixture)).toEqual(['d1 one', 'd2 two']);
    runController(fixture, 'pv-binder');
    await fixture.settle();
    expect(await fixture.summary()).toEqual(
      expect.arrayContaining(['disk d1 Bound to one', 'disk d2 Bound to two']),
    );
  });
});

describe('the final state is that of a run without faults', () => {
  const beside = async (fixture: SchedulerFixture) => void runController(fixture, 'pv-binder');

  test.each(bindingCases)(
    '$name: the scheduler crashes after any write',
    async ({ prepare, writes, volumes }) => {
      const written = await crashAfterEveryWrite(async (fixture) => {
        await beside(fixture);
        await prepare(fixture);
      }, schedulerCompletes);
      // Unless the PV controller was faster.
      expect(written.length).toBeGreaterThanOrEqual(writes.length);
      expect(written.length).toBeLessThanOrEqual(writes.length + volumes);
    },
  );

  test.each(bindingCases)('$name: any write is refused', async ({ prepare }) => {
    await failAtEveryWrite(
      'before',
      async (fixture) => {
        await beside(fixture);
        await prepare(fixture);
      },
      schedulerCompletes,
    );
  });

  test.each(bindingCases)('$name: any write takes effect and returns an error', async ({ prepare }) => {
    await failAtEveryWrite(
      'after',
      async (fixture) => {
        await beside(fixture);
        await prepare(fixture);
      },
      schedulerCompletes,
    );
  });
});

describe('a pod that waits for a new volume', () => {
  /** The volume is provisioned while the PV controller is stopped. */
  async function withNewVolume(): Promise<SchedulerFixture> {
    const fixture = await startBinding({
      controllers: [],
      scheduler: schedulerCompletes,
      provisioner: new FakeProvisioner(),
    });
    await fixture.claim('provisioned', '1Gi', { storageClassName: 'provisioned' });
    // Provisioners look for this annotation; the PV controller would have written it.
    await annotateClaim(fixture, 'provisioned', {
      [annotations.storageProvisioner]: FakeProvisioner.provisionerName,
    });
    await fixture.pod('web', ['provisioned']);
    await fixture.settle(1_000);
    return fixture;
  }

  test('is bound when the volume exists; the PV controller completes the claim', async () => {
    await using fixture = await withNewVolume();
    expect((await podOf(fixture)).spec?.nodeName).toMatch(/^n/);
    expect(await fixture.summary()).toContain('claim provisioned has nothing');
    runController(fixture, 'pv-binder');
    await fixture.settle();
    expect(await fixture.summary()).toContainEqual(expect.stringMatching(/^claim provisioned has pvc-/));
  });

  test('is not treated as created with a node by a scheduler that starts then', async () => {
    await using fixture = await withNewVolume();
    runScheduler(fixture, schedulerCompletes);
    await fixture.settle(1_000);
    const { items } = await fixture.cluster.resource(events).list({ namespace });
    expect(items.map(({ reason }) => reason)).not.toContain('ClaimsNotBound');
  });

  const nominated = async (fixture: SchedulerFixture) => (await podOf(fixture)).status?.nominatedNodeName;

  test('gets its nominated node after it has waited for a while, and not before', async () => {
    await using fixture = await startBinding({ controllers: ['pv-binder'], scheduler: schedulerCompletes });
    await fixture.claim('provisioned', '1Gi', { storageClassName: 'provisioned' });
    await fixture.pod('web', ['provisioned'], { spec: { nodeSelector: { [labels.hostname]: 'n2' } } });
    await fixture.settle(4_000);
    expect(await nominated(fixture)).toBeUndefined();
    await fixture.settle(2_000);
    expect(await nominated(fixture)).toBe('n2');
  });

  test('is reported in one event after the same time', async () => {
    await using fixture = await startBinding({ controllers: ['pv-binder'], scheduler: schedulerCompletes });
    await fixture.claim('provisioned', '1Gi', { storageClassName: 'provisioned' });
    await fixture.pod('web', ['provisioned'], { spec: { nodeSelector: { [labels.hostname]: 'n2' } } });
    await fixture.settle(4_000);
    expect(await fixture.eventsOf('web')).toEqual([]);
    await fixture.settle(300_000);
    expect(await fixture.eventsOf('web')).toEqual([
      'WaitingForProvisioner: claim default/provisioned waits for provisioner fake.example.com to create a volume for node n2. ' +
        'If this persists, check that the provisioner is running, and see the events of the claim',
    ]);
    const { items } = await fixture.cluster.resource(events).list({ namespace });
    const [event] = items.filter(({ reason }) => reason === 'WaitingForProvisioner');
    expect(event?.series).toBeUndefined();
  });

  async function podOf(fixture: SchedulerFixture) {
    return await fixture.cluster.resource(pods).get({ namespace, name: 'web' });
  }
});

import { expect, test } from 'vitest';
import { isObjectWrite, onlyFor } from '../../cluster/testing/fault-hooks.ts';
import { InterceptedCluster } from '../../cluster/testing/intercepted-cluster.ts';
import { nodes, persistentVolumeClaims, persistentVolumes } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import {
  annotateClaim,
  claimRefs,
  deletePod,
  observeVolumesOnce,
  runController,
  runProvisioner,
  selectedNode,
  startBinding,
  writeClaimRef,
} from './testing/binding-fixture.ts';
import { FakeProvisioner } from './testing/fake-provisioner.ts';
import { namespace, type SchedulerFixture } from './testing/scheduler-fixture.ts';

const made = { storageClassName: 'made' };

/** A pod whose disk is claimed, and nobody completes the binding. Its disk is the first of the claimRefs. */
async function waitingForBinder(): Promise<SchedulerFixture> {
  const fixture = await startBinding({ controllers: ['protection'] });
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.disk('d2', '10Gi', 'n2');
  await observeVolumesOnce(fixture);
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await claimRefs(fixture)).toHaveLength(1);
  return fixture;
}

test('a volume that is deleted while it is being bound makes the pod go elsewhere', async () => {
  await using fixture = await waitingForBinder();
  const [taken = ''] = (await claimRefs(fixture))[0]!.split(' ');
  await fixture.cluster.resource(persistentVolumes).delete({ name: taken });
  await fixture.settle(2_000);
  expect(await fixture.eventsOf('web')).toContainEqual(
    `FailedScheduling: binding volumes: PersistentVolume ${taken} is gone`,
  );
  runController(fixture, 'pv-binder');
  await fixture.settle(2_000);
  const other = taken === 'd1' ? '2' : '1';
  expect(await fixture.summary()).toEqual([
    `claim data has d${other}`,
    `disk d${other} Bound to data`,
    `pod web on n${other}`,
  ]);
});

test('a claim that is deleted while it is being bound frees its volume; a new one of its name is another', async () => {
  await using fixture = await waitingForBinder();
  await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'data' });
  await fixture.settle(2_000);
  expect(await claimRefs(fixture)).toEqual([]);
  expect(await fixture.place('web')).toMatch('persistentvolumeclaim "data" not found');
  await fixture.claim('data', '5Gi');
  runController(fixture, 'pv-binder');
  await fixture.settle(2_000);
  expect(await fixture.place('web')).toMatch(/^n[12]$/);
});

test('a claimRef that somebody clears is written again', async () => {
  await using fixture = await waitingForBinder();
  const [name = ''] = (await claimRefs(fixture))[0]!.split(' ');
  const body = {
    spec: { claimRef: null },
    metadata: { annotations: { [annotations.boundByController]: null } },
  };
  await fixture.cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body });
  await fixture.settle();
  expect(await fixture.eventsOf('web')).toContainEqual(
    `FailedScheduling: binding volumes: ClaimRef got reset for pv "${name}"`,
  );
  runController(fixture, 'pv-binder');
  await fixture.settle(2_000);
  expect(await fixture.place('web')).toMatch(/^n[12]$/);
});

test('a pod that is deleted while it waits gives its volume back', async () => {
  await using fixture = await waitingForBinder();
  await deletePod(fixture, 'web');
  await fixture.settle();
  expect(await claimRefs(fixture)).toEqual([]);
  await fixture.claim('other', '5Gi');
  await fixture.claim('another', '5Gi');
  await fixture.pod('heir', ['other']);
  await fixture.pod('second', ['another']);
  await fixture.settle();
  expect(await claimRefs(fixture)).toHaveLength(2);
});

test('a volume that another pod counts on stays when one of the two is deleted', async () => {
  await using fixture = await startBinding({ controllers: ['protection'] });
  await fixture.disk('d1', '10Gi', 'n1');
  await observeVolumesOnce(fixture);
  await fixture.claim('data', '5Gi');
  await fixture.pod('one', ['data']);
  await fixture.settle();
  await fixture.pod('other', ['data']);
  await fixture.settle();
  await deletePod(fixture, 'one');
  await fixture.settle();
  expect(await claimRefs(fixture)).toEqual(['d1 data']);
  runController(fixture, 'pv-binder');
  await fixture.settle();
  expect(await fixture.place('other')).toBe('n1');
  expect(await fixture.eventsOf('other')).toEqual(['Scheduled: Successfully assigned default/other to n1']);
});

test('a node that is deleted while its pod waits for a disk there is left', async () => {
  await using fixture = await waitingForBinder();
  const [taken = ''] = (await claimRefs(fixture))[0]!.split(' ');
  const node = taken === 'd1' ? 'n1' : 'n2';
  await fixture.cluster.resource(nodes).delete({ name: node });
  await fixture.settle(2_000);
  expect(await fixture.eventsOf('web')).toContainEqual(
    `FailedScheduling: binding volumes: node "${node}" not found`,
  );
  runController(fixture, 'pv-binder');
  await fixture.settle(2_000);
  expect(await fixture.place('web')).toBe(node === 'n1' ? 'n2' : 'n1');
});

test('a volume that another scheduler takes first ends in Conflict, and the pod takes another', async () => {
  let stolen = '';
  const way = (cluster: SchedulerFixture['cluster']) => {
    return new InterceptedCluster(
      cluster,
      onlyFor(isObjectWrite, {
        before: async ({ resource, name }) => {
          if (resource.plural !== 'persistentvolumes' || stolen !== '') return;
          stolen = name;
          await writeClaimRef(fixture, name, 'rival');
        },
      }),
    );
  };
  await using fixture = await startBinding({ wrapCluster: way });
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.disk('d2', '10Gi', 'n2');
  await fixture.claim('rival', '5Gi');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle(5_000);
  const left = stolen === 'd1' ? '2' : '1';
  expect(await fixture.summary()).toEqual(
    [
      `claim rival has ${stolen}`,
      `claim data has d${left}`,
      `disk ${stolen} Bound to rival`,
      `disk d${left} Bound to data`,
      `pod web on n${left}`,
    ].sort(),
  );
});

test('a provisioner that says no for one node is asked for another', async () => {
  const maker = new FakeProvisioner();
  maker.outcome = (_, node) => (node === 'n3' ? 'makes' : 'refuses');
  await using fixture = await startBinding({ provisioner: maker });
  await fixture.claim('data', '5Gi', made);
  await fixture.pod('web', ['data']);
  await fixture.settle(10_000);
  expect(await fixture.place('web')).toBe('n3');
  expect(new Set(maker.requests).size).toBe(maker.requests.length);
});

test('a provisioner that says no everywhere is not asked in a circle', async () => {
  const maker = new FakeProvisioner();
  maker.outcome = () => 'refuses';
  await using fixture = await startBinding({ provisioner: maker });
  await fixture.claim('data', '5Gi', made);
  await fixture.pod('web', ['data']);
  await fixture.settle(8_000);
  expect(maker.requests.toSorted()).toEqual(['data n1', 'data n2', 'data n3']);
  expect(await fixture.place('web')).toMatch('3 node(s) recently failed to provide a volume');
  await fixture.settle(52_000);
  expect(maker.requests.length).toBeLessThanOrEqual(9);
  maker.outcome = () => 'makes';
  await fixture.settle(60_000);
  expect(await fixture.place('web')).toMatch(/^n/);
});

test('a selected node that is moved by hand takes the pod along', async () => {
  const maker = new FakeProvisioner();
  await using fixture = await startBinding();
  await fixture.claim('data', '5Gi', made);
  await fixture.pod('web', ['data']);
  await fixture.settle();
  const other = (await selectedNode(fixture, 'data')) === 'n1' ? 'n2' : 'n1';
  await annotateClaim(fixture, 'data', { [annotations.selectedNode]: other });
  await fixture.settle(2_000);
  runProvisioner(fixture, maker);
  await fixture.settle(2_000);
  expect(maker.requests).toEqual([`data ${other}`]);
  expect(await fixture.place('web')).toBe(other);
});

test('a claim whose selected node is gone says so, and goes elsewhere once its provisioner has let go', async () => {
  await using fixture = await startBinding();
  await fixture.claim('data', '5Gi', made);
  await fixture.pod('web', ['data']);
  await fixture.settle();
  const node = (await selectedNode(fixture, 'data'))!;
  await fixture.cluster.resource(nodes).delete({ name: node });
  await fixture.settle(3_000);
  expect(await fixture.eventsOf('web')).toContainEqual(
    expect.stringContaining(
      `VolumesPinPod: the volume of claim default/data is being provisioned for node ${node}, which is gone`,
    ),
  );
  runProvisioner(fixture, new FakeProvisioner());
  await fixture.settle(3_000);
  expect(await fixture.place('web')).toMatch(/^n/);
  expect(await fixture.place('web')).not.toBe(node);
});

test('a volume that comes after the time is up is adopted', async () => {
  const maker = new FakeProvisioner();
  maker.outcome = () => 'waits';
  await using fixture = await startBinding({ provisioner: maker, scheduler: { bindTimeoutMs: 30_000 } });
  await fixture.claim('data', '5Gi', made);
  await fixture.pod('web', ['data']);
  await fixture.settle();
  const node = (await selectedNode(fixture, 'data'))!;
  await fixture.settle(70_000);
  expect(await fixture.eventsOf('web')).toContainEqual(
    'FailedScheduling: binding volumes: context deadline exceeded',
  );
  maker.continue();
  await fixture.settle(11_000);
  expect(await fixture.place('web')).toBe(node);
  expect(maker.requests).toEqual([`data ${node}`]);
});

test('a new volume that its node cannot reach makes the pod follow it', async () => {
  const maker = new FakeProvisioner();
  maker.outcome = (_, node) => ({ elsewhere: node === 'n1' ? 'n2' : 'n1' });
  await using fixture = await startBinding({ provisioner: maker });
  await fixture.claim('data', '5Gi', made);
  await fixture.pod('web', ['data']);
  await fixture.settle(3_000);
  const [asked = ''] = maker.requests;
  expect(await fixture.place('web')).toBe(asked === 'data n1' ? 'n2' : 'n1');
  expect(await fixture.eventsOf('web')).toContainEqual(
    expect.stringMatching(/^FailedScheduling: binding volumes: pv ".*" node affinity doesn't match node/),
  );
});

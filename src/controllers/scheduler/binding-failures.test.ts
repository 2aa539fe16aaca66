import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { isObjectWrite, onlyFor } from '../../cluster/testing/fault-hooks.ts';
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

const provisioned = { storageClassName: 'provisioned' };

/** A pod whose disk has a claimRef, without a PV controller to complete the binding. Its disk is the first of `claimRefs`. */
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

test('a claim that is deleted while it is being bound frees its volume; a claim re-created under its name is another one', async () => {
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

test('a claimRef that another client clears is written again', async () => {
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

test('deleting a pod that is being bound frees its volume', async () => {
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

test('a volume that two pods share stays bound when one of them is deleted', async () => {
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

test('a pod goes elsewhere when its node is deleted while it waits for a disk there', async () => {
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

test('if another scheduler takes the volume first, the write ends in Conflict and the pod takes another volume', async () => {
  let stolen = '';
  const wrapCluster = (cluster: SchedulerFixture['cluster']) => {
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
  await using fixture = await startBinding({ wrapCluster });
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

test('after a provisioner has refused one node, it is asked for another', async () => {
  const provisioner = new FakeProvisioner();
  provisioner.outcome = (_, node) => (node === 'n3' ? 'creates' : 'refuses');
  await using fixture = await startBinding({ provisioner });
  await fixture.claim('data', '5Gi', provisioned);
  await fixture.pod('web', ['data']);
  await fixture.settle(10_000);
  expect(await fixture.place('web')).toBe('n3');
  expect(new Set(provisioner.requests).size).toBe(provisioner.requests.length);
});

test('a provisioner that refuses every node is not asked without a pause', async () => {
  const provisioner = new FakeProvisioner();
  provisioner.outcome = () => 'refuses';
  await using fixture = await startBinding({ provisioner });
  await fixture.claim('data', '5Gi', provisioned);
  await fixture.pod('web', ['data']);
  await fixture.settle(8_000);
  expect(provisioner.requests.toSorted()).toEqual(['data n1', 'data n2', 'data n3']);
  expect(await fixture.place('web')).toMatch('3 node(s) recently failed to provide a volume');
  await fixture.settle(52_000);
  expect(provisioner.requests.length).toBeLessThanOrEqual(9);
  provisioner.outcome = () => 'creates';
  await fixture.settle(60_000);
  expect(await fixture.place('web')).toMatch(/^n/);
});

test('a pod follows a selected node that an administrator changes', async () => {
  const provisioner = new FakeProvisioner();
  await using fixture = await startBinding();
  await fixture.claim('data', '5Gi', provisioned);
  await fixture.pod('web', ['data']);
  await fixture.settle();
  const other = (await selectedNode(fixture, 'data')) === 'n1' ? 'n2' : 'n1';
  await annotateClaim(fixture, 'data', { [annotations.selectedNode]: other });
  await fixture.settle(2_000);
  runProvisioner(fixture, provisioner);
  await fixture.settle(2_000);
  expect(provisioner.requests).toEqual([`data ${other}`]);
  expect(await fixture.place('web')).toBe(other);
});

test('an event reports a selected node that is gone; the pod goes elsewhere once the provisioner clears the selection', async () => {
  await using fixture = await startBinding();
  await fixture.claim('data', '5Gi', provisioned);
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

test('a volume that is created after the bind timeout is used', async () => {
  const provisioner = new FakeProvisioner();
  provisioner.outcome = () => 'waits';
  await using fixture = await startBinding({ provisioner, scheduler: { bindTimeoutMs: 30_000 } });
  await fixture.claim('data', '5Gi', provisioned);
  await fixture.pod('web', ['data']);
  await fixture.settle();
  const node = (await selectedNode(fixture, 'data'))!;
  await fixture.settle(70_000);
  expect(await fixture.eventsOf('web')).toContainEqual(
    'FailedScheduling: binding volumes: context deadline exceeded',
  );
  provisioner.continue();
  await fixture.settle(11_000);
  expect(await fixture.place('web')).toBe(node);
  expect(provisioner.requests).toEqual([`data ${node}`]);
});

test('a pod follows a new volume that its selected node cannot reach', async () => {
  const provisioner = new FakeProvisioner();
  provisioner.outcome = (_, node) => ({ elsewhere: node === 'n1' ? 'n2' : 'n1' });
  await using fixture = await startBinding({ provisioner });
  await fixture.claim('data', '5Gi', provisioned);
  await fixture.pod('web', ['data']);
  await fixture.settle(3_000);
  const [request = ''] = provisioner.requests;
  expect(await fixture.place('web')).toBe(request === 'data n1' ? 'n2' : 'n1');
  expect(await fixture.eventsOf('web')).toContainEqual(
    expect.stringMatching(/^FailedScheduling: binding volumes: pv ".*" node affinity doesn't match node/),
  );
});

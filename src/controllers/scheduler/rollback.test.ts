import { describe, expect, test } from 'vitest';
import { type ClusterCall, InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { isObjectWrite, onlyFor } from '../../cluster/testing/fault-hooks.ts';
import { failure } from '../../kube/api-error.ts';
import { nodes, persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import {
  annotateClaim,
  claimRefs,
  deletePod,
  observeVolumesOnce,
  runController,
  startBinding,
  writeClaimRef,
} from './testing/binding-fixture.ts';
import { crashAfterEveryWrite, failAtEveryWrite } from './testing/fault-at-every-write.ts';
import { namespace, type SchedulerFixture } from './testing/scheduler-fixture.ts';

const mark = annotations.rollback;

/** n1 has a disk for one claim of the pod, n2 for both; a scheduler crashed after it had written the claimRef on n1. */
async function halfReserved(fixture: SchedulerFixture): Promise<void> {
  await fixture.disk('d1a', '10Gi', 'n1');
  await fixture.disk('d2a', '10Gi', 'n2');
  await fixture.disk('d2b', '20Gi', 'n2');
  await observeVolumesOnce(fixture);
  await fixture.claim('small', '10Gi');
  await fixture.claim('large', '20Gi');
  await writeClaimRef(fixture, 'd1a', 'small');
  await fixture.pod('both', ['small', 'large']);
}

test('a claimRef of a crashed scheduler is withdrawn if the pod fits no node because of it', async () => {
  await using fixture = await startBinding({ controllers: [] });
  await halfReserved(fixture);
  await fixture.settle(3_000);
  expect(await claimRefs(fixture)).toEqual(['d2a small', 'd2b large']);
  runController(fixture, 'pv-binder');
  await fixture.settle();
  expect(await fixture.place('both')).toBe('n2');
  expect(await fixture.summary()).toContain('disk d1a Available to no claim');
});

describe('a rollback ends in the same state', () => {
  const writes = [
    'patch persistentvolumeclaims',
    'patch persistentvolumes',
    'patch persistentvolumeclaims',
    'patch persistentvolumes',
    'patch persistentvolumes',
  ];

  test('when the scheduler crashes after any of its writes', async () => {
    const written = await crashAfterEveryWrite(halfReserved);
    expect(ofVolumes(written)).toEqual(writes);
  });

  test.each(['before', 'after'] as const)('when any of its writes fails %s it took effect', async (when) => {
    expect(ofVolumes(await failAtEveryWrite(when, halfReserved))).toEqual(writes);
  });

  function ofVolumes(written: readonly ClusterCall[]): readonly string[] {
    return written
      .map(({ verb, resource }) => `${verb} ${resource.plural}`)
      .filter((write) => !write.endsWith(' pods'));
  }
});

test('a pod whose claim is being rolled back reports it, and is placed when the rollback has ended', async () => {
  let isAway = true;
  const wrapCluster = (cluster: SchedulerFixture['cluster']) => {
    return new InterceptedCluster(
      cluster,
      onlyFor(isObjectWrite, {
        before: ({ resource }) => {
          if (isAway && resource.plural === 'persistentvolumeclaims')
            throw failure(500, 'InternalError', 'etcd is away');
        },
      }),
    );
  };
  await using fixture = await startBinding({ wrapCluster });
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await annotateClaim(fixture, 'data', { [mark]: 'yes' });
  await fixture.pod('web', ['data']);
  await fixture.settle(5_000);
  expect(await fixture.place('web')).toMatch('persistentvolumeclaim "data" is being rolled back');
  isAway = false;
  await fixture.settle(30_000);
  expect(await fixture.place('web')).toBe('n1');
});

test('a conflict with another client’s write to the claim does not leave the annotation behind', async () => {
  let conflicts = 0;
  const wrapCluster = (cluster: SchedulerFixture['cluster']) => {
    return new InterceptedCluster(
      cluster,
      onlyFor(isObjectWrite, {
        before: async ({ resource }) => {
          if (resource.plural !== 'persistentvolumeclaims' || conflicts >= 4) return;
          conflicts += 1;
          await annotateClaim(fixture, 'small', { 'example.com/touched': `${conflicts}` });
        },
      }),
    );
  };
  await using fixture = await startBinding({ controllers: [], wrapCluster });
  await halfReserved(fixture);
  await fixture.settle(5_000);
  expect(conflicts).toBe(4);
  const claim = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'small' });
  expect(claim.metadata?.annotations).not.toHaveProperty([mark]);
  expect(await claimRefs(fixture)).toEqual(['d2a small', 'd2b large']);
});

describe('what may hold data, or was not written by a scheduler, stays', () => {
  const cases: readonly { name: string; prepare: (fixture: SchedulerFixture) => Promise<unknown> }[] = [
    {
      name: 'a volume whose phase is not known to be Available',
      prepare: (fixture) =>
        fixture.cluster
          .resource(persistentVolumes)
          .patch(
            { name: 'd1a' },
            { type: 'merge', body: { status: { phase: 'Bound' } } },
            { subresource: 'status' },
          ),
    },
    {
      name: 'a claim that a node has mounted',
      prepare: (fixture) => annotateClaim(fixture, 'small', { [annotations.mounted]: 'n1/uid' }),
    },
    {
      name: 'a volume that an administrator reserved',
      prepare: (fixture) => {
        const body = { metadata: { annotations: { [annotations.boundByController]: null } } };
        return fixture.cluster.resource(persistentVolumes).patch({ name: 'd1a' }, { type: 'merge', body });
      },
    },
    {
      name: 'a claim that a running pod uses',
      prepare: (fixture) => fixture.pod('other', ['small'], { spec: { nodeName: 'n1' } }),
    },
  ];

  test.each(cases)('$name', async ({ prepare }) => {
    await using fixture = await startBinding({ controllers: [] });
    await fixture.disk('d1a', '10Gi', 'n1');
    await fixture.disk('d2b', '20Gi', 'n2');
    await observeVolumesOnce(fixture);
    await fixture.claim('small', '10Gi');
    await fixture.claim('large', '20Gi');
    await writeClaimRef(fixture, 'd1a', 'small');
    await prepare(fixture);
    await fixture.pod('both', ['small', 'large']);
    await fixture.settle(60_000);
    expect(await claimRefs(fixture)).toEqual(['d1a small']);
    const claim = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'small' });
    expect(claim.metadata?.annotations ?? {}).not.toHaveProperty([mark]);
  });
});

test('a claim that the PV controller is binding is not rolled back', async () => {
  await using fixture = await startBinding({ controllers: [] });
  await fixture.storageClass('at-once', { volumeBindingMode: 'Immediate' });
  await fixture.disk('d1', '10Gi', 'n1', { storageClassName: 'at-once' });
  await observeVolumesOnce(fixture);
  await fixture.claim('data', '5Gi', { storageClassName: 'at-once' });
  await writeClaimRef(fixture, 'd1', 'data');
  await fixture.pod('web', ['data']);
  await fixture.settle(5_000);
  expect(await fixture.place('web')).toMatch('unbound immediate PersistentVolumeClaims');
  expect(await claimRefs(fixture)).toEqual(['d1 data']);
});

test('a replacement of a pod that its kubelet rejected is placed; an event reports what can’t be undone, with the remedy', async () => {
  await using fixture = await startBinding();
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  const body = { status: { phase: 'Failed', reason: 'OutOfcpu' } };
  await fixture.cluster
    .resource(pods)
    .patch({ namespace, name: 'web' }, { type: 'merge', body }, { subresource: 'status' });
  await fixture.cluster
    .resource(nodes)
    .patch({ name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } });
  await deletePod(fixture, 'web');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await fixture.eventsOf('web')).toContainEqual(
    'VolumesPinPod: claim default/data is bound to volume d1, which only n1 can reach; ' +
      "this can't be undone without losing data that may be on the volume. Free capacity there, or delete the claim to start over",
  );
  expect(await claimRefs(fixture)).toEqual(['d1 data']);
  await fixture.cluster
    .resource(nodes)
    .patch({ name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: null } } });
  await fixture.settle(2_000);
  expect(await fixture.place('web')).toBe('n1');
});

test('a replacement of a pod that was rejected before its volume was bound goes to another node', async () => {
  await using fixture = await startBinding({ controllers: [] });
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.disk('d2', '10Gi', 'n2');
  await observeVolumesOnce(fixture);
  await fixture.claim('data', '5Gi');
  await writeClaimRef(fixture, 'd1', 'data');
  await fixture.pod('rejected', ['data'], { spec: { nodeName: 'n1' } });
  const body = { status: { phase: 'Failed', reason: 'OutOfcpu' } };
  await fixture.cluster
    .resource(pods)
    .patch({ namespace, name: 'rejected' }, { type: 'merge', body }, { subresource: 'status' });
  await fixture.cluster
    .resource(nodes)
    .patch({ name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } });
  await fixture.pod('again', ['data']);
  await fixture.settle(3_000);
  expect(await claimRefs(fixture)).toEqual(['d2 data']);
});

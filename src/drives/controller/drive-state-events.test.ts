import { expect, test } from 'vitest';
import type { Event } from '../../kube/api/events.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import { events, persistentVolumes } from '../../kube/resources.ts';
import { DrivesFixture } from '../testing/drives-fixture.ts';
import { runComparison } from '../testing/run-comparison.ts';

const namespace = 'default';
const uids = {
  claim: '11111111-2222-4333-8444-000000000001',
  pod: '11111111-2222-4333-8444-000000000002',
};

/** A drive with a volume of a claim and an inline volume of a pod. */
async function startWithDrive(): Promise<DrivesFixture> {
  const fixture = await DrivesFixture.start();
  const volumes = [
    { name: 'pvc-1', sizeBytes: 1, claimRef: { namespace, name: 'data' } },
    { name: 'inline', sizeBytes: 1, podRef: { namespace, name: 'app', uid: uids.pod } },
  ];
  await fixture.drive('a', 100, { spec: { volumes } });
  await fixture.cluster.resource(persistentVolumes).create({
    metadata: { name: 'pvc-1' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1' },
      claimRef: { namespace, name: 'data', uid: uids.claim },
      csi: {
        driver: 'drives.stowage.dev',
        volumeHandle: 'pvc-1',
        volumeAttributes: { 'stowage.dev/drive': 'a' },
      },
    },
  });
  return fixture;
}

/** Writes what the node service writes when the drive has another state. */
async function report(fixture: DrivesFixture, state: string, reason: string): Promise<void> {
  const isMounted = state === 'Ready';
  const mounted = {
    type: 'Mounted',
    status: isMounted ? 'True' : 'False',
    reason,
    message: `${reason} of the test`,
    lastTransitionTime: formatTimestamp(fixture.clock.nowMs()),
  };
  await fixture.merge('a', { status: { state, conditions: [mounted] } }, 'status');
}

/** Events about drives that fail, once no more are written. */
async function stateEvents({ clock, cluster }: DrivesFixture): Promise<readonly Event[]> {
  await clock.advance(5_000);
  const { items } = await cluster.resource(events).list();
  return items.filter(({ reason = '' }) => ['DriveLost', 'DriveError'].includes(reason));
}

function summaries(all: readonly Event[]) {
  const lines = all.map(
    ({ reason, regarding, series }) => `${reason} ${regarding?.kind} ${series?.count ?? 1}`,
  );
  return lines.sort();
}

test('a drive that becomes Lost is reported on the Drive, the claim and the pod of its volumes', async () => {
  const fixture = await startWithDrive();
  runComparison(fixture);
  expect(await stateEvents(fixture)).toEqual([]);
  await report(fixture, 'Lost', 'DeviceLost');
  const found = await stateEvents(fixture);
  expect(summaries(found)).toEqual([
    'DriveLost Drive 1',
    'DriveLost PersistentVolumeClaim 1',
    'DriveLost Pod 1',
  ]);
  expect(found.find(({ regarding }) => regarding?.kind === 'Drive')).toMatchObject({
    type: 'Warning',
    note: 'drive a of node n1 is Lost: DeviceLost of the test',
  });
  expect(found.find(({ regarding }) => regarding?.kind === 'PersistentVolumeClaim')).toMatchObject({
    type: 'Warning',
    metadata: { namespace },
    regarding: { namespace, name: 'data', uid: uids.claim },
    related: { kind: 'Drive', name: 'a' },
    note: 'volume pvc-1 is on drive a of node n1, which is Lost: DeviceLost of the test',
  });
  expect(found.find(({ regarding }) => regarding?.kind === 'Pod')?.regarding?.uid).toBe(uids.pod);
});

test('each change of the state is one occurrence; another status of the same state is none', async () => {
  const fixture = await startWithDrive();
  runComparison(fixture);
  await report(fixture, 'Lost', 'DeviceLost');
  await stateEvents(fixture);
  await fixture.merge('a', { status: { freeBytes: 98 } }, 'status');
  expect(summaries(await stateEvents(fixture))).toContain('DriveLost Drive 1');
  await report(fixture, 'Ready', 'Mounted');
  await stateEvents(fixture);
  await report(fixture, 'Lost', 'DeviceLost');
  expect(summaries(await stateEvents(fixture))).toEqual([
    'DriveLost Drive 2',
    'DriveLost PersistentVolumeClaim 2',
    'DriveLost Pod 2',
  ]);
  await report(fixture, 'Error', 'InputOutputError');
  expect(summaries(await stateEvents(fixture))).toContain('DriveError Drive 1');
});

test('the next process reports a change that none has seen, and does not report one again', async () => {
  const fixture = await startWithDrive();
  await report(fixture, 'Lost', 'DeviceLost');
  const first = runComparison(fixture, 'first');
  expect(await stateEvents(fixture)).toHaveLength(3);
  await first.stop();
  const second = runComparison(fixture, 'second');
  const found = await stateEvents(fixture);
  expect(summaries(found)).toEqual([
    'DriveLost Drive 1',
    'DriveLost PersistentVolumeClaim 1',
    'DriveLost Pod 1',
  ]);
  expect([...first.errors, ...second.errors]).toEqual([]);
});

test('a process that starts does not report a change of long ago', async () => {
  const fixture = await startWithDrive();
  await report(fixture, 'Lost', 'DeviceLost');
  await fixture.clock.advance(2 * 60 * 60_000);
  runComparison(fixture);
  expect(await stateEvents(fixture)).toEqual([]);
});

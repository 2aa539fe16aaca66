import { expect, test } from 'vitest';
import { events, persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { DrivesFixture } from '../testing/drives-fixture.ts';
import { runComparison } from '../testing/run-comparison.ts';

const namespace = 'default';

function ledgerMatches({ status }: Drive) {
  return status?.conditions?.find(({ type }) => type === 'LedgerMatches');
}

test('a process without controllers names what nothing uses, and what has no entry', async () => {
  const fixture = await DrivesFixture.start();
  const { errors } = runComparison(fixture);
  const { cluster, clock } = fixture;
  const claim = await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name: 'used' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } },
  });
  const pod = await cluster.resource(pods).create({
    metadata: { namespace, name: 'app' },
    spec: { containers: [{ name: 'main', image: 'registry.example.com/app:1' }] },
  });
  const user = (name: string, uid = '11111111-2222-4333-8444-555555555555') => ({ namespace, name, uid });
  const volumes = [
    { name: 'used', sizeBytes: 1, claimRef: user('used', claim.metadata?.uid) },
    { name: 'inline', sizeBytes: 1, podRef: user('app', pod.metadata?.uid) },
    { name: 'gone', sizeBytes: 1, claimRef: user('gone') },
    { name: 'other-pod', sizeBytes: 1, podRef: user('app') },
  ];
  await fixture.drive('a', 100, { spec: { volumes } });
  await fixture.drive('b', 100);
  await cluster.resource(persistentVolumes).create({
    metadata: { name: 'lost' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1' },
      csi: {
        driver: 'drives.stowage.dev',
        volumeHandle: 'lost',
        volumeAttributes: { 'stowage.dev/drive': 'b' },
      },
    },
  });
  while (ledgerMatches(await fixture.get('b')) === undefined) await clock.advance(1_000);
  expect(ledgerMatches(await fixture.get('a'))).toMatchObject({
    status: 'False',
    reason: 'LeakedVolumes',
    message:
      'volume gone takes 1, and has no PersistentVolume; claim default/gone is gone; volume other-pod takes 1, and pod default/app is gone',
  });
  expect(ledgerMatches(await fixture.get('b'))).toMatchObject({ status: 'False', reason: 'MissingEntries' });
  expect((await fixture.get('a')).spec?.volumes).toHaveLength(4);
  const reasons = async () =>
    (await cluster.resource(events).list()).items.map(({ reason }) => reason).sort();
  while ((await reasons()).length < 3) await clock.advance(1_000);
  expect(await reasons()).toEqual(['LeakedVolumes', 'MissingEntries', 'MissingEntry']);
  expect(errors).toEqual([]);
});

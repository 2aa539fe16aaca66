import { expect, test } from 'vitest';
import {
  DiskClaimsFixture,
  namespace,
} from '../../controllers/provisioner/disks/testing/disk-claims-fixture.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';
import { pods } from '../../kube/resources.ts';
import { backingImages } from '../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { explainClaim } from '../../queries/explain/explain-claim.ts';
import { explainPod } from '../../queries/explain/explain-pod.ts';
import { diskViewIn } from '../../queries/view/disk-view.ts';
import { plainTerminal } from '../output/terminal.ts';
import { loadCluster } from '../source/load-cluster.ts';
import { renderClaim } from './render-claim.ts';
import { renderPod } from './render-pod.ts';

const rendering = { terminal: plainTerminal, isWide: false };

async function viewFor({ cluster }: DiskClaimsFixture, name: string) {
  const options = { server: 'https://test', source: 'test', onProgress: () => {} };
  return await loadCluster(cluster, { namespace, name }, options);
}

async function explainedPod(fixture: DiskClaimsFixture, name: string): Promise<string> {
  const view = await viewFor(fixture, name);
  const pod = await fixture.cluster.resource(pods).get({ namespace, name });
  return renderPod(explainPod(view, pod, { nowMs: fixture.environment.clock.nowMs() }), rendering);
}

async function explainedClaim(fixture: DiskClaimsFixture, name: string): Promise<string> {
  const view = await viewFor(fixture, name);
  const claim = await fixture.claim(name);
  return renderClaim(explainClaim(view, claim, { nowMs: fixture.environment.clock.nowMs() }), rendering);
}

test('the explanation of a claim that the disks have no room for names the disk and the missing bytes', async () => {
  const fixture = await DiskClaimsFixture.start({ limits: [100, 70] });
  await fixture.addPod('first', 50);
  await fixture.settle();
  await fixture.addPod('second', 30);
  await fixture.settle();
  const missing =
    'replica 2 of 2: none of 2 disks fits; the closest is d on node n2: 20 bytes free, 30 requested: 10 missing';
  const text = await explainedPod(fixture, 'second');
  expect(unwrapped(text)).toContain(`disks: ${missing}`);
  expect(unwrapped(await explainedClaim(fixture, 'second-0'))).toContain(`disks: ${missing}`);
  expect(await explainedPod(fixture, 'first')).not.toContain('disks:');
});

test('the explanation of a claim whose image has no known size names the field to set', async () => {
  const parameters = { numberOfReplicas: '1', backingImage: 'i' };
  const fixture = await DiskClaimsFixture.start({ limits: [100], parameters });
  await fixture.cluster.resource(backingImages).create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'BackingImage',
    metadata: { name: 'i' },
    spec: { source: { upload: {} } },
  });
  await fixture.settle();
  expect(await fixture.figures()).toEqual(['disks 0 0']);
  await fixture.addPod('app', 10);
  await fixture.settle();
  const problem = 'the size of BackingImage i is unknown; set its spec.expectedSize';
  expect(unwrapped(await explainedPod(fixture, 'app'))).toContain(problem);
  const body = { spec: { expectedSize: 30 } };
  await fixture.cluster.resource(backingImages).patch({ name: 'i' }, { type: 'merge', body });
  await fixture.settle();
  expect(await fixture.phases()).toEqual(['app Running']);
  expect(await fixture.granted()).toEqual([40]);
  expect(await fixture.figures()).toEqual(['disks 60 60']);
});

test('a claim whose Volume waits shows what the Volume waits for', async () => {
  const fixture = await DiskClaimsFixture.start({ limits: [100, 100] });
  const body = {
    status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Test', message: 'n2 is away' }] },
  };
  await fixture.addPod('app', 10);
  for (const name of ['n1', 'n2'])
    await fixture.cluster
      .resource(storageNodes)
      .patch({ name }, { type: 'merge', body }, { subresource: 'status' });
  await fixture.settle(3_000);
  const text = unwrapped(await explainedClaim(fixture, 'app-0'));
  expect(text).toMatch(/disks: (Volume pvc-\S+: |replica 1 of 2: .*n2 is away)/);
});

test('files with disks are read too', async () => {
  const fixture = await DiskClaimsFixture.start({ limits: [100] });
  const listed = async <T extends KubeObject>(resource: Resource<T>): Promise<readonly KubeObject[]> =>
    (await fixture.cluster.resource(resource).list()).items;
  const found = diskViewIn([...(await listed(diskSchedules)), ...(await listed(storageNodes))]);
  expect(found).toMatchObject({ schedules: [{}], nodes: [{}], settings: [], volumes: [] });
  expect(diskViewIn([])).toBeUndefined();
});

function unwrapped(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CsiFixture } from '../../src/csi/testing/csi-fixture.ts';
import { EnforcingDriver } from '../../src/csi/testing/enforcing-driver.ts';
import { ApiClient } from './api-client.ts';
import { delay, StowageProcess, temporaryFolder } from './stowage-process.ts';

const name = 'scratch.example.com';
const podPath = '/api/v1/namespaces/default/pods/web';

interface PublishRequest {
  readonly targetPath: string;
  readonly publishContext: Readonly<Record<string, string>>;
}

/** A plugin that creates and removes its mount points, as CSI demands. */
function mountingDriver(): EnforcingDriver {
  const driver = new EnforcingDriver({ name, pools: {}, nodeId: 'id-of-n1', nodeCapabilities: [] });
  driver.afterCall = (method, request) => {
    const { targetPath } = request as PublishRequest;
    if (method === 'NodePublishVolume') mkdirSync(targetPath);
    if (method === 'NodeUnpublishVolume' && existsSync(targetPath)) rmdirSync(targetPath);
  };
  return driver;
}

async function makeCluster(client: ApiClient): Promise<void> {
  const spec = { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] };
  await client.call('POST', '/apis/storage.k8s.io/v1/csidrivers', { body: { metadata: { name }, spec } });
  await client.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'n1' } } });
  const volumes = [{ name: 'scratch', csi: { driver: name, fsSize: '1Gi' } }];
  const pod = { nodeName: 'n1', containers: [{ name: 'main', image: 'pause' }], volumes };
  const path = '/api/v1/namespaces/default/pods';
  const { status, text } = await client.call('POST', path, {
    body: { metadata: { name: 'web' }, spec: pod },
  });
  expect(status, text).toBe(201);
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await delay(20);
}

test('a node plugin on a socket publishes volumes, also across a crash of stowage', async () => {
  await using fixture = new CsiFixture();
  const driver = mountingDriver();
  await fixture.serve(driver.services());
  const data = join(temporaryFolder(), 'data');
  const flags = ['--csi-node', `n1=unix://${fixture.path}`];
  const first = await StowageProcess.up(data, ...flags);
  const client = new ApiClient(first.access);
  await makeCluster(client);
  await until(async () => (await client.call('GET', podPath)).text.includes('"phase":"Running"'));
  const [request] = driver.callsOf('NodePublishVolume') as [PublishRequest];
  expect(request.targetPath).toMatch(
    new RegExp(`^${data}/kubelet/n1/pods/[-0-9a-f]{36}/volumes/kubernetes.io~csi/scratch/mount$`),
  );
  expect(request.publishContext).toEqual({ 'csi.storage.k8s.io/size': '1Gi' });
  expect(existsSync(request.targetPath)).toBe(true);
  const { text: csiNode } = await client.call('GET', '/apis/storage.k8s.io/v1/csinodes/n1');
  expect(JSON.parse(csiNode).spec.drivers).toMatchObject([{ name, nodeID: 'id-of-n1' }]);
  await first.kill();

  const second = await StowageProcess.up(data, ...flags);
  const again = new ApiClient(second.access);
  await again.call('DELETE', podPath);
  await until(async () => (await again.call('GET', podPath)).status === 404);
  expect(driver.mounts.isEmpty).toBe(true);
  expect(existsSync(request.targetPath)).toBe(false);
  expect(readdirSync(join(data, 'kubelet/n1/plugins/kubernetes.io/csi', name))).toEqual([]);
  expect(driver.callsOf('NodePublishVolume').length).toBe(1);
});

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { CsiFixture, identityOf } from '../../src/csi/testing/csi-fixture.ts';
import { type Drive, drivesDriver } from '../../src/kube/drive.ts';
import { ApiClient } from '../up/api-client.ts';
import { delay, StowageProcess, temporaryFolder } from '../up/stowage-process.ts';
import { lacks } from './vitest-beds.ts';

const gib = 2 ** 30;
const drivesPath = '/apis/stowage.dev/v1alpha1/drives';

/** Ready drives without a node service: what is deleted is free at once. */
async function createDrives(client: ApiClient, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const name = `drive-${at}`;
    const spec = { nodeName: `n${at}`, filesystemUUID: `b7f6c1de-4a2e-4c6f-9d0b-00000000000${at}` };
    const body = { apiVersion: 'stowage.dev/v1alpha1', kind: 'Drive', metadata: { name }, spec };
    expect((await client.call('POST', drivesPath, { body })).status).toBe(201);
    const status = { capacityBytes: 100 * gib, state: 'Ready' };
    const contentType = 'application/merge-patch+json';
    const reply = await client.call('PATCH', `${drivesPath}/${name}/status`, {
      body: { status },
      contentType,
    });
    expect(reply.status).toBe(200);
  }
}

/**
 * What csi-sanity leaves out with the controller service alone: tests of the node service, which does not exist yet; snapshots, group
 * snapshots, clones, ControllerPublishVolume and ControllerModifyVolume, which drives do not have.
 */
describe.skipIf(lacks('csi-sanity'))('the CSI driver for drives', () => {
  test('passes csi-sanity for identity and controller', async () => {
    const folder = temporaryFolder();
    const up = await StowageProcess.up(folder, '--controllers', 'none');
    const client = new ApiClient(up.access);
    onTestFinished(() => client.close());
    await createDrives(client, 4);
    const endpoint = `unix://${join(folder, 'csi.sock')}`;
    const args = ['csi', '--endpoint', endpoint, '--services', 'controller', '--kubeconfig', up.kubeconfig];
    const driver = new StowageProcess(args);
    onTestFinished(() => driver.kill());
    while (!driver.stderr.includes('calls are answered')) await delay(10);

    // csi-sanity cleans up through a node service after tests of the controller, too.
    await using node = new CsiFixture();
    await node.serve({
      identity: identityOf(drivesDriver),
      node: { nodeGetCapabilities: async () => ({}), nodeUnpublishVolume: async () => ({}) },
    });
    const sanity = promisify(execFile)(inject('kubernetesPrograms')['csi-sanity']!, [
      `--csi.endpoint=unix://${node.path}`,
      `--csi.controllerendpoint=${endpoint}`,
      '--ginkgo.skip=Node Service',
    ]);
    // What fails is in its output, not in the error.
    const { stdout } = await sanity.catch((error: unknown) => {
      throw new Error(`csi-sanity failed: ${(error as { readonly stdout?: string }).stdout}`, {
        cause: error,
      });
    });
    const [, ran] = /Ran (\d+) of \d+ Specs/.exec(stdout) ?? [];
    expect(Number(ran)).toBeGreaterThanOrEqual(20);
    const { items = [] } = (await client.call('GET', drivesPath)).body;
    expect(items.flatMap((item) => (item as Drive).spec?.volumes ?? [])).toEqual([]);
  });
});

import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CsiClient } from '../../src/csi/csi-client.ts';
import type { CsiMethodName, CsiReply, CsiRequestInit } from '../../src/csi/csi-methods.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { ApiClient } from './api-client.ts';
import { callStowage, delay, StowageProcess, temporaryFolder } from './stowage-process.ts';

const gib = 2 ** 30;
const drivesPath = '/apis/stowage.dev/v1alpha1/drives';

/** `stowage csi` with a socket of its own, and a client for it. */
class DriverProcess {
  readonly stowage: StowageProcess;
  readonly #client: CsiClient;

  constructor(folder: string, name: string, kubeconfig: string) {
    const address = `unix://${join(folder, `${name}.sock`)}`;
    this.stowage = new StowageProcess([
      'csi',
      '--endpoint',
      address,
      '--services=controller',
      '--kubeconfig',
      kubeconfig,
    ]);
    this.#client = new CsiClient({ address, clock: realClock, log: silentLog, metrics: new Metrics() });
    onTestFinished(async () => {
      this.#client.close();
      await this.stowage.kill();
    });
  }

  async printed(text: string): Promise<void> {
    while (!this.stowage.stderr.includes(text)) await delay(10);
  }

  call<Name extends CsiMethodName>(name: Name, request: CsiRequestInit<Name>): Promise<CsiReply<Name>> {
    return this.#client.call(name, request, { signal: AbortSignal.timeout(60_000), timeoutMs: 60_000 });
  }

  create(name: string, bytes: number): Promise<CsiReply<'CreateVolume'>> {
    return this.call('CreateVolume', {
      name,
      volumeCapabilities: [{ accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } }],
      capacityRange: { requiredBytes: BigInt(bytes) },
    });
  }
}

async function createDrive(client: ApiClient, name: string, capacityBytes: number): Promise<void> {
  const body = {
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Drive',
    metadata: { name },
    spec: { nodeName: 'n1', filesystemUUID: `b7f6c1de-4a2e-4c6f-9d0b-00000000000${name.at(-1)}` },
  };
  expect((await client.call('POST', drivesPath, { body })).status).toBe(201);
  const status = await client.call('PATCH', `${drivesPath}/${name}/status`, {
    body: { status: { capacityBytes, state: 'Ready' } },
    contentType: 'application/merge-patch+json',
  });
  expect(status.status).toBe(200);
}

describe('stowage csi', () => {
  test('answers in one of two processes, and the second one continues where the first ended', async () => {
    const folder = temporaryFolder();
    const up = await StowageProcess.up(folder, '--controllers', 'none');
    const client = new ApiClient(up.access);
    onTestFinished(() => client.close());
    for (const name of ['d1', 'd2', 'd3']) await createDrive(client, name, 10 * gib);
    const first = new DriverProcess(folder, 'first', up.kubeconfig);
    await first.printed('3 drives are known; calls are answered');
    const second = new DriverProcess(folder, 'second', up.kubeconfig);
    await second.printed('leads; this process stands by');

    const created = await first.create('pvc-1', gib);
    expect((await first.call('Probe', {})).ready).toBe(true);
    expect((await second.call('Probe', {})).ready).toBe(false);
    await expect(second.create('pvc-1', gib)).rejects.toMatchObject({ code: 'Unavailable' });

    expect(await first.stowage.stop()).toEqual({ status: 0, signal: null });
    await second.printed('calls are answered');
    expect(await second.create('pvc-1', gib)).toEqual(created);
    const listed = await second.call('ListVolumes', {});
    expect(listed.entries.map(({ volume }) => volume?.volumeId)).toEqual(['pvc-1']);
    await second.call('DeleteVolume', { volumeId: 'pvc-1' });
    expect((await second.call('GetCapacity', {})).availableCapacity).toBe(BigInt(30 * gib));
    expect(await second.stowage.stop()).toEqual({ status: 0, signal: null });
  });

  test.each([
    [[], "required option '--endpoint <address>' not specified"],
    [['--endpoint', 'tcp://x', '--services', 'controller'], '--endpoint'],
    [['--endpoint', 'unix:///tmp/x.sock', '--services', 'all'], '"all" must be controller or node'],
    [['--endpoint', 'unix:///tmp/x.sock'], 'the node service does not exist yet; use --services controller'],
  ])('%j is wrong usage', async (args, message) => {
    const { status, stderr } = await callStowage('csi', ...args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});

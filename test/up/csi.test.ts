import { describe, expect, onTestFinished, test } from 'vitest';
import { ApiClient } from './api-client.ts';
import { createDrive, DriverProcess, drivesPath } from './driver-process.ts';
import { callInProcess } from './in-process.ts';
import { delay, StowageProcess, temporaryFolder } from './stowage-process.ts';

const gib = 2 ** 30;

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

  test('serves the node as soon as its drives are known, also beside another leader', async () => {
    const folder = temporaryFolder();
    const up = await StowageProcess.up(folder, '--controllers', 'none');
    const client = new ApiClient(up.access);
    onTestFinished(() => client.close());
    const root = `--drives-root=${folder}/drives`;
    const flags = (node: string) => [`--node-name=${node}`, root, '--unenforced-quota'];
    const first = new DriverProcess(folder, 'n1', up.kubeconfig, flags('n1'));
    await first.printed('calls are answered');
    const second = new DriverProcess(folder, 'n2', up.kubeconfig, [...flags('n2'), '--services=node']);
    await second.printed('listens at');
    for (const [node, driver] of Object.entries({ n1: first, n2: second })) {
      expect((await driver.call('NodeGetInfo', {})).nodeId).toBe(node);
      expect((await driver.call('Probe', {})).ready).toBe(true);
    }
    expect((await first.call('GetCapacity', {})).availableCapacity).toBe(0n);
    await expect(second.call('GetCapacity', {})).rejects.toMatchObject({ code: 'Unimplemented' });
    // No device has this filesystem.
    await createDrive(client, 'd1', gib);
    const lost = async () =>
      JSON.stringify((await client.call('GET', `${drivesPath}/d1`)).body).includes('"Lost"');
    while (!(await lost())) await delay(10);
    for (const { stowage } of [first, second])
      expect(await stowage.stop()).toEqual({ status: 0, signal: null });
  });

  test.each([
    [[], "required option '--endpoint <address>' not specified"],
    [['--endpoint', 'tcp://x', '--services', 'controller'], '--endpoint'],
    [['--endpoint', 'unix:///tmp/x.sock', '--services', 'all'], '"all" must be controller or node'],
    [['--endpoint', 'unix:///tmp/x.sock'], '--node-name: the node service needs the name of its node'],
    [['--endpoint', 'unix:///tmp/x.sock', '--node-name', '../n1'], "must be a Node's name"],
    [
      ['--endpoint', 'unix:///tmp/x.sock', '--node-name', 'n1', '--drives-root', 'drives'],
      '--drives-root: "drives" must be an absolute path',
    ],
  ])('%j is wrong usage', async (args, message) => {
    const { status, stderr } = await callInProcess('csi', ...args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});

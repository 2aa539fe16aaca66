import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Drive } from '../../src/kube/stowage/drive.ts';
import { ApiClient } from './api-client.ts';
import { createDrive, DriverProcess, drivesPath } from './driver-process.ts';
import { OwnLeaseProxy } from './own-lease-proxy.ts';
import { delay, StowageProcess, temporaryFolder } from './stowage-process.ts';

test('two processes that both lead answer with one drive for a name, and the later entry is withdrawn', async () => {
  const folder = temporaryFolder();
  const up = await StowageProcess.up(folder, '--controllers', 'none');
  const client = new ApiClient(up.access);
  onTestFinished(() => client.close());
  for (const name of ['d1', 'd2']) await createDrive(client, name, 1000);
  const leaders = await Promise.all(['first', 'second'].map((name) => startLeader(folder, name, up)));

  const answers = [];
  for (const volume of ['pvc-1', 'pvc-2', 'pvc-3']) {
    for (const { proxy } of leaders) proxy.hold();
    const calls = leaders.map(({ driver }, at) =>
      untilCertain(() => driver.create(volume, 10, { 'stowage.dev/drive': `d${at + 1}` })),
    );
    const results = Promise.all(calls);
    results.catch(() => {});
    // Neither process can know of the other's entry.
    await until(async () => (await drivesOf(client, volume)).length === 2);
    for (const { proxy } of leaders) proxy.release();
    const drives = (await results).map(({ volume: one }) => one?.volumeContext['stowage.dev/drive']);
    expect(drives[0]).toBe(drives[1]);
    await until(async () => (await drivesOf(client, volume)).length === 1);
    answers.push([volume, drives[0]]);
  }
  for (const [volume, drive] of answers) expect(await drivesOf(client, volume ?? '')).toEqual([drive]);
});

/** Repeats an aborted call, as a provisioner does. */
async function untilCertain<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!/Aborted/.test(String(error))) throw error;
    }
  }
}

/** A process with a Lease of its own. */
async function startLeader(folder: string, name: string, up: StowageProcess) {
  const proxy = await OwnLeaseProxy.start(up.access);
  const kubeconfig = join(folder, `${name}.kubeconfig`);
  writeFileSync(kubeconfig, proxy.kubeconfig);
  const driver = new DriverProcess(folder, name, kubeconfig);
  await driver.printed('calls are answered');
  return { proxy, driver };
}

async function drivesOf(client: ApiClient, volume: string): Promise<readonly string[]> {
  const { body } = await client.call('GET', drivesPath);
  return (body.items ?? [])
    .filter((drive) => (drive as Drive).spec?.volumes?.some(({ name }) => name === volume))
    .map(({ metadata }) => metadata.name ?? '');
}

async function until(predicate: () => Promise<boolean>): Promise<void> {
  while (!(await predicate())) await delay(10);
}

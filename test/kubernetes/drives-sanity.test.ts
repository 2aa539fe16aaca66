import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import type { Drive } from '../../src/kube/stowage/drive.ts';
import { builtProgram } from '../built-program.ts';
import { ApiClient } from '../up/api-client.ts';
import { StowageProcess, temporaryFolder } from '../up/stowage-process.ts';
import { runCommand } from './node/commands.ts';
import { lacksXfs } from './node/drive-requirements.ts';
import { LoopDrive } from './node/loop-drive.ts';
import { ProcessSupervisor } from './process-supervisor.ts';
import { until } from './testing/run-scheduler.ts';
import { lacks } from './vitest-beds.ts';

const mib = 2 ** 20;
const drivesPath = '/apis/stowage.dev/v1alpha1/drives';
const nodeName = 'n1';
const program = new URL('../../src/cli/main.ts', import.meta.url);

/** Why csi-sanity skips what it skips. Volumes on drives do not have it; docs/drives.md says so. */
const skipped: Readonly<Record<string, string>> = {
  'Snapshot not supported': 'a drive has no copies of volumes',
  'ListSnapshots not supported': 'the same',
  'CreateSnapshot not supported': 'the same',
  'DeleteSnapshot not supported': 'the same',
  'Volume Cloning not supported': 'the same',
  'GroupControllerService not supported': 'the same',
  'GetSnapshot not supported': 'the same',
  'ControllerGetVolumeHealth not supported':
    'the node reports the health of its volumes (NodeGetVolumeHealth)',
  'ControllerListVolumeHealth not supported': 'the same',
  'NodeGetStorageHealth not supported': 'the status of each Drive has it',
  'ControllerPublishVolume not supported': 'a drive is in its node; nothing is attached',
  'Controller Publish, UnpublishVolume not supported': 'the same',
  'ControllerUnpublishVolume not supported': 'the same',
  'Modify volume not supported': 'a volume has no parameters that can change',
  'Modify Volume not supported': 'the same',
  'ControllerModifyVolume not supported': 'the same',
};

describe.skipIf(lacks('csi-sanity') || lacksXfs())('the CSI driver for drives', () => {
  test('passes csi-sanity for identity, controller and node, on XFS', { timeout: 900_000 }, async () => {
    const folder = temporaryFolder();
    const up = await StowageProcess.up(folder, '--controllers', 'none');
    const client = new ApiClient(up.access);
    onTestFinished(() => client.close());
    const node = await client.call('POST', '/api/v1/nodes', { body: { metadata: { name: nodeName } } });
    expect(node.status).toBe(201);
    for (let count = 0; count < 3; count += 1) await createDrive(client, await LoopDrive.create());
    const endpoint = `unix://${join(folder, 'csi.sock')}`;
    const driver = await startDriver(folder, endpoint, up.kubeconfig);
    const specs = await runSanity(folder, endpoint, driver);

    const reasons = specs.flatMap(({ State, Failure }) =>
      State === 'skipped' ? [Failure?.Message ?? ''] : [],
    );
    expect([...new Set(reasons)].sort()).toEqual(Object.keys(skipped).sort());
    expect(specs.filter(({ State }) => State === 'passed').length).toBeGreaterThanOrEqual(50);
    // Nothing is left, neither in the ledgers nor on the drives.
    const ledgers = async () =>
      ((await client.call('GET', drivesPath)).body.items ?? []).flatMap(
        (item) => (item as Drive).spec?.volumes ?? [],
      );
    await until(async () => (await ledgers()).length === 0);
    const { stdout } = await runInMountsOf(driver, 'find', join(folder, 'drives'), '-mindepth', '3');
    expect(stdout).toBe('');
  });
});

async function createDrive(client: ApiClient, { uuid }: LoopDrive): Promise<void> {
  const metadata = { name: `${nodeName}-${uuid.slice(0, 8)}` };
  const spec = { nodeName, filesystemUUID: uuid };
  const body = { apiVersion: 'stowage.dev/v1alpha1', kind: 'Drive', metadata, spec };
  expect((await client.call('POST', drivesPath, { body })).status).toBe(201);
}

/** Starts the process in a mount namespace that ends with it. Resolves with its process id when it responds. */
async function startDriver(folder: string, endpoint: string, kubeconfig: string): Promise<number> {
  const supervisor = new ProcessSupervisor({ data: join(folder, 'supervisor'), logs: folder });
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(`--- stowage csi\n${supervisor.log('driver')}\n`);
    await supervisor.end();
  });
  const drivesRoot = join(folder, 'drives');
  mkdirSync(drivesRoot);
  const flags = ['--endpoint', endpoint, '--kubeconfig', kubeconfig, '--node-name', nodeName];
  const args = [
    ...['--mount', '--propagation', 'private', process.execPath, builtProgram(program), 'csi', ...flags],
    ...['--drives-root', drivesRoot, '--unenforced-quota'],
  ];
  const env = { PATH: process.env.PATH ?? '', NO_COLOR: '1' };
  await supervisor.start('driver', { program: 'unshare', args, env });
  await until(() => {
    if (!supervisor.isRunning('driver')) throw new Error('the driver ended');
    return supervisor.log('driver').includes('calls are answered');
  });
  return supervisor.pidOf('driver') ?? 0;
}

interface Spec {
  readonly State: string;
  readonly Failure?: { readonly Message?: string };
}

async function runSanity(folder: string, endpoint: string, driver: number): Promise<readonly Spec[]> {
  const report = join(folder, 'report.json');
  await runInMountsOf(
    driver,
    inject('kubernetesPrograms')['csi-sanity']!,
    `--csi.endpoint=${endpoint}`,
    `--csi.mountdir=${join(folder, 'target')}`,
    `--csi.stagingdir=${join(folder, 'staging')}`,
    `--csi.testvolumesize=${20 * mib}`,
    `--csi.testvolumeexpandsize=${30 * mib}`,
    '--ginkgo.no-color',
    `--ginkgo.json-report=${report}`,
  );
  const [suite] = JSON.parse(readFileSync(report, 'utf8')) as [{ readonly SpecReports: readonly Spec[] }];
  return suite.SpecReports;
}

function runInMountsOf(process: number, ...command: readonly string[]) {
  return runCommand('nsenter', '-t', `${process}`, '-m', '--', ...command);
}

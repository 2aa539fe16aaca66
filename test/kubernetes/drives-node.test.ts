import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CsiClient } from '../../src/csi/csi-client.ts';
import type { CsiMethodName, CsiReply, CsiRequestInit } from '../../src/csi/csi-methods.ts';
import type { PersistentVolumeClaim, Pod } from '../../src/kube/api/core.ts';
import type { Drive, DriveVolume } from '../../src/kube/stowage/drive.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { builtProgram } from '../built-program.ts';
import { ApiClient } from '../up/api-client.ts';
import { StowageProcess, temporaryFolder } from '../up/stowage-process.ts';
import { lacksXfs } from './node/drive-requirements.ts';
import { LoopDrive } from './node/loop-drive.ts';
import { ProcessSupervisor } from './process-supervisor.ts';
import { until, untilPasses } from './testing/run-scheduler.ts';

const mib = 2 ** 20;
const drivesPath = '/apis/stowage.dev/v1alpha1/drives';
const nodeName = 'n1';
const program = new URL('../../src/cli/main.ts', import.meta.url);
const mountOnce = { accessType: { case: 'mount' as const, value: {} }, accessMode: { mode: 1 as const } };

/**
 * `stowage csi --services node` with real mounts. They are in a namespace that another process holds, so that they stay when the driver is
 * killed, and are gone when the test ends.
 */
class NodeUnderTest {
  /** Also the data directory of `stowage up` is in it. */
  readonly folder: string;
  readonly #api: ApiClient;
  readonly #kubeconfig: string;
  readonly #supervisor: ProcessSupervisor;
  readonly #socket: string;
  #client: CsiClient | undefined;
  #starts = 0;

  /** Without controllers, the test is the caller of the service; with them, a simulated node uses it as its plugin. */
  static async start(controllers: 'none' | '*' = 'none'): Promise<NodeUnderTest> {
    const folder = temporaryFolder();
    const flags = [
      '--controllers',
      controllers,
      '--csi-node',
      `${nodeName}=unix://${join(folder, 'csi.sock')}`,
    ];
    const up = await StowageProcess.up(
      join(folder, 'data'),
      ...(controllers === 'none' ? flags.slice(0, 2) : flags),
    );
    const node = new NodeUnderTest(folder, new ApiClient(up.access), up.kubeconfig);
    const args = ['--mount', '--propagation', 'private', 'sleep', 'infinity'];
    await node.#supervisor.start('mounts', { program: 'unshare', args, env: environment });
    return node;
  }

  private constructor(folder: string, api: ApiClient, kubeconfig: string) {
    this.folder = folder;
    this.#socket = join(folder, 'csi.sock');
    this.#api = api;
    this.#kubeconfig = kubeconfig;
    this.#supervisor = new ProcessSupervisor({ data: join(this.folder, 'supervisor'), logs: this.folder });
    mkdirSync(join(this.folder, 'drives'));
    onTestFinished(async ({ task }) => {
      this.#client?.close();
      api.close();
      if (task.result?.state === 'fail') process.stderr.write(`${this.#supervisor.log('driver')}\n`);
      await this.#supervisor.end();
    });
  }

  /** Resolves when the socket is there; one that a killed driver left does not count. */
  async startDriver(): Promise<void> {
    this.#starts += 1;
    const flags = ['--endpoint', `unix://${this.#socket}`, '--kubeconfig', this.#kubeconfig];
    const node = [
      '--services',
      'node',
      '--node-name',
      nodeName,
      '--drives-root',
      join(this.folder, 'drives'),
    ];
    const command = [process.execPath, builtProgram(program), 'csi', ...flags, ...node, '--unenforced-quota'];
    const args = ['-t', `${this.#supervisor.pidOf('mounts')}`, '-m', '--', ...command];
    await this.#supervisor.start('driver', { program: 'nsenter', args, env: environment });
    await until(() => {
      if (!this.#supervisor.isRunning('driver')) throw new Error('the driver ended');
      return this.#supervisor.log('driver').split('listens at').length > this.#starts;
    });
    this.#client = new CsiClient({
      address: this.#socket,
      clock: realClock,
      log: silentLog,
      metrics: new Metrics(),
    });
  }

  async killDriver(): Promise<void> {
    this.#client?.close();
    await this.#supervisor.stop('driver', 'SIGKILL');
  }

  /** A Drive for the filesystem of a device. */
  async register({ uuid }: LoopDrive): Promise<string> {
    const name = `${nodeName}-${uuid.slice(0, 8)}`;
    const spec = { nodeName, filesystemUUID: uuid };
    const body = { apiVersion: 'stowage.dev/v1alpha1', kind: 'Drive', metadata: { name }, spec };
    expect((await this.#api.call('POST', drivesPath, { body })).status).toBe(201);
    return name;
  }

  async drive(name: string): Promise<Drive> {
    return (await this.#api.call('GET', `${drivesPath}/${name}`)).body as Drive;
  }

  async create(path: string, body: object): Promise<void> {
    const reply = await this.#api.call('POST', path, { body });
    expect(reply.status, reply.text).toBe(201);
  }

  async read(path: string): Promise<unknown> {
    const reply = await this.#api.call('GET', path);
    return reply.status === 404 ? undefined : reply.body;
  }

  async delete(path: string): Promise<void> {
    expect((await this.#api.call('DELETE', path)).status).toBe(200);
  }

  async patch(name: string, body: object, subresource = ''): Promise<void> {
    const contentType = 'application/merge-patch+json';
    const reply = await this.#api.call('PATCH', `${drivesPath}/${name}${subresource}`, { body, contentType });
    expect(reply.status, reply.text).toBe(200);
  }

  async patchStatus(name: string, status: object): Promise<void> {
    await this.patch(name, { status }, '/status');
  }

  async setVolumes(name: string, ...volumes: readonly DriveVolume[]): Promise<void> {
    await this.patch(name, { spec: { volumes } });
  }

  call<Name extends CsiMethodName>(method: Name, request: CsiRequestInit<Name>): Promise<CsiReply<Name>> {
    const { signal } = new AbortController();
    return this.#client!.call(method, request, { signal, timeoutMs: 60_000 });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** A file as the driver sees it. */
  inside(...parts: readonly string[]): string {
    return join(`/proc/${this.#supervisor.pidOf('mounts')}/root`, this.folder, ...parts);
  }

  mounts(): readonly string[] {
    const lines = readFileSync(`/proc/${this.#supervisor.pidOf('mounts')}/mounts`, 'utf8').split('\n');
    return lines.flatMap((line) => {
      const [, path = ''] = line.split(' ');
      return path.startsWith(`${this.folder}/`) ? [path.slice(this.folder.length + 1)] : [];
    });
  }
}

const environment = { PATH: process.env.PATH ?? '', NO_COLOR: '1' };

const stage = (node: NodeUnderTest, volumeId: string) =>
  node.call('NodeStageVolume', {
    volumeId,
    stagingTargetPath: node.path('stage'),
    volumeCapability: mountOnce,
  });

const publish = (node: NodeUnderTest, volumeId: string, target: string, isReadOnly = false) =>
  node.call('NodePublishVolume', {
    volumeId,
    stagingTargetPath: node.path('stage'),
    targetPath: node.path(target),
    volumeCapability: mountOnce,
    readonly: isReadOnly,
  });

describe.skipIf(lacksXfs())('the node service of drives, on XFS', () => {
  test('stages, publishes, expands and deletes a volume, and goes on after it was killed', async () => {
    // Before the node: mounts end before their devices.
    const drive = await LoopDrive.create();
    const node = await NodeUnderTest.start();
    const name = await node.register(drive);
    await node.startDriver();
    await untilPasses(async () => {
      const { status } = await node.drive(name);
      expect(status).toMatchObject({ state: 'Ready', device: { path: drive.device } });
      expect(status?.capacityBytes).toBeGreaterThan(200 * mib);
      expect(status?.capacityBytes).toBeLessThan(320 * mib);
    });

    await node.setVolumes(name, { name: 'pvc-1', sizeBytes: 50 * mib });
    await stage(node, 'pvc-1');
    await publish(node, 'pvc-1', 'pod');
    await publish(node, 'pvc-1', 'reader', true);
    writeFileSync(node.inside('pod/file'), 'kept');
    expect(readFileSync(node.inside('reader/file'), 'utf8')).toBe('kept');
    expect(() => writeFileSync(node.inside('reader/file'), 'changed')).toThrow('EROFS');
    const volumePath = node.path('pod');
    const { usage } = await node.call('NodeGetVolumeStats', { volumeId: 'pvc-1', volumePath });
    expect(usage[0]?.total).toBeGreaterThan(0n);

    await node.killDriver();
    await node.startDriver();
    await stage(node, 'pvc-1');
    await publish(node, 'pvc-1', 'pod');
    expect(node.mounts()).toEqual([`drives/${drive.uuid}`, 'stage', 'pod', 'reader']);
    expect(readFileSync(node.inside('pod/file'), 'utf8')).toBe('kept');

    await node.setVolumes(name, { name: 'pvc-1', sizeBytes: 80 * mib });
    const capacityRange = { requiredBytes: BigInt(80 * mib) };
    expect(
      await node.call('NodeExpandVolume', { volumeId: 'pvc-1', volumePath, capacityRange }),
    ).toMatchObject({ capacityBytes: BigInt(80 * mib) });

    await node.setVolumes(name, { name: 'pvc-1', sizeBytes: 80 * mib, state: 'Releasing' });
    for (const target of ['pod', 'reader'])
      await node.call('NodeUnpublishVolume', { volumeId: 'pvc-1', targetPath: node.path(target) });
    expect(existsSync(node.inside('pod'))).toBe(false);
    expect((await node.drive(name)).spec?.volumes).toHaveLength(1);
    await node.call('NodeUnstageVolume', { volumeId: 'pvc-1', stagingTargetPath: node.path('stage') });
    await until(async () => (await node.drive(name)).spec?.volumes?.length === 0);
    expect(node.mounts()).toEqual([`drives/${drive.uuid}`]);
    expect(existsSync(node.inside('drives', drive.uuid, 'volumes/pvc-1'))).toBe(false);
    expect(existsSync(node.inside('drives', drive.uuid, 'deleted/pvc-1'))).toBe(false);
  });

  test('a drive that disappears is lost, and comes back with its data under another name', async () => {
    // Before the node: mounts end before their devices.
    const drive = await LoopDrive.create();
    const node = await NodeUnderTest.start();
    const name = await node.register(drive);
    await node.startDriver();
    await node.setVolumes(name, { name: 'pvc-1', sizeBytes: 50 * mib });
    await stage(node, 'pvc-1');
    writeFileSync(node.inside('stage/file'), 'kept');
    await node.call('NodeUnstageVolume', { volumeId: 'pvc-1', stagingTargetPath: node.path('stage') });

    // Unmounted as before xfs_repair, so that the device can be detached.
    await node.patchStatus(name, { state: 'Repairing' });
    await until(() => node.mounts().length === 0);
    const before = drive.device;
    await drive.detach();
    const placeholder = await LoopDrive.create({ device: before });
    await node.patchStatus(name, { state: null });
    await untilPasses(async () => {
      const lost = await node.drive(name);
      expect(lost.status?.state).toBe('Lost');
      expect(lost.spec?.volumes).toHaveLength(1);
      expect(lost.status?.conditions).toMatchObject([
        { type: 'Mounted', status: 'False', reason: 'DeviceLost' },
      ]);
    });
    await expect(stage(node, 'pvc-1')).rejects.toMatchObject({ code: 'Unavailable' });

    await drive.attach();
    expect(drive.device).not.toBe(placeholder.device);
    // A change of the object makes the service look at once.
    await node.patch(name, { metadata: { labels: { seen: 'again' } } });
    await untilPasses(async () => {
      const { status } = await node.drive(name);
      expect([status?.state, status?.device?.path]).toEqual(['Ready', drive.device]);
    });
    await stage(node, 'pvc-1');
    expect(readFileSync(node.inside('stage/file'), 'utf8')).toBe('kept');
  });
});

const podsPath = '/api/v1/namespaces/default/pods';

/** Runs a pod with the claim `data`, and returns the path of its volume below the node's folder. */
async function runPod(node: NodeUnderTest, name: string): Promise<string> {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  const containers = [{ name: 'main', image: 'registry.example.com/app:1' }];
  const spec = { terminationGracePeriodSeconds: 1, containers, volumes };
  await node.create(podsPath, { metadata: { name }, spec });
  let uid: string | undefined;
  await until(async () => {
    const { metadata, status } = (await node.read(`${podsPath}/${name}`)) as Pod;
    uid = metadata?.uid;
    return status?.phase === 'Running';
  });
  const claim = (await node.read(
    '/api/v1/namespaces/default/persistentvolumeclaims/data',
  )) as PersistentVolumeClaim;
  return `data/kubelet/${nodeName}/pods/${uid}/volumes/kubernetes.io~csi/${claim.spec?.volumeName}/mount`;
}

test.skipIf(lacksXfs())(
  'in stowage up with --csi-node, a file survives its pod and comes back with the volume on another pod',
  async () => {
    const drive = await LoopDrive.create();
    const node = await NodeUnderTest.start('*');
    const allocatable = { cpu: '4', memory: '8Gi', pods: '20' };
    await node.create('/api/v1/nodes', {
      metadata: { name: nodeName },
      status: { allocatable, capacity: allocatable },
    });
    const name = await node.register(drive);
    await node.startDriver();
    await until(
      async () => (await node.read('/apis/storage.k8s.io/v1/storageclasses/stowage-drives')) !== undefined,
    );
    await node.create('/api/v1/namespaces/default/persistentvolumeclaims', {
      metadata: { name: 'data' },
      spec: {
        storageClassName: 'stowage-drives',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '50Mi' } },
      },
    });
    const first = await runPod(node, 'first');
    writeFileSync(node.inside(first, 'file'), 'kept');
    await node.delete(`${podsPath}/first`);
    await until(async () => (await node.read(`${podsPath}/first`)) === undefined);
    expect(node.mounts()).not.toContain(first);

    const second = await runPod(node, 'second');
    expect(readFileSync(node.inside(second, 'file'), 'utf8')).toBe('kept');
    await node.delete(`${podsPath}/second`);
    await node.delete('/api/v1/namespaces/default/persistentvolumeclaims/data');
    await until(async () => (await node.drive(name)).spec?.volumes?.length === 0);
    await until(() => node.mounts().length === 1);
  },
);

test.skipIf(lacksXfs())(
  'without project quota in the kernel, the service says so and ends',
  async (context) => {
    if (existsSync('/proc/fs/xfs/xqmstat') || !existsSync('/proc/fs/xfs'))
      return context.skip('this kernel has XFS project quota');
    const endpoint = `unix://${join(temporaryFolder(), 'csi.sock')}`;
    const stowage = new StowageProcess(['csi', '--endpoint', endpoint, '--node-name', nodeName]);
    expect(await stowage.exited).toMatchObject({ status: 1 });
    expect(stowage.stderr).toContain('--unenforced-quota');
  },
);

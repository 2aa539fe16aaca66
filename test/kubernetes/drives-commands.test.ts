import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Drive } from '../../src/kube/stowage/drive.ts';
import { ApiClient } from '../up/api-client.ts';
import { callStowage, StowageProcess, temporaryFolder } from '../up/stowage-process.ts';
import { canFormat, loopDevice } from './testing/loop-device.ts';

const drivesPath = '/apis/stowage.dev/v1alpha1/drives';
const merge = 'application/merge-patch+json';
const mib = 2 ** 20;

interface Answer {
  readonly status: number | null;
  readonly text: string;
  readonly json: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

describe.skipIf(!canFormat)('stowage drives on real devices', () => {
  test('formats, registers, shows, repairs and removes drives, and goes on after an interruption', async () => {
    const folder = temporaryFolder();
    const up = await StowageProcess.up(join(folder, 'data'), '--controllers', 'none');
    const client = new ApiClient(up.access);
    onTestFinished(() => client.close());
    for (const name of ['n1', 'n2'])
      expect((await client.call('POST', '/api/v1/nodes', { body: { metadata: { name } } })).status).toBe(201);
    const first = loopDevice(folder, 'first.img');
    const second = loopDevice(folder, 'second.img');
    execFileSync('mkfs.ext4', ['-q', second]);
    const call = async (...args: readonly string[]): Promise<Answer> => {
      const { status, stdout, stderr } = await callStowage('drives', ...args);
      return { status, text: stderr, json: stdout.startsWith('{') ? JSON.parse(stdout) : {} };
    };
    const onCluster = (...args: readonly string[]) => call(...args, '--kubeconfig', up.kubeconfig);
    const driveNow = async () => {
      const { body } = await client.call('GET', drivesPath);
      return body.items?.[0] as Drive | undefined;
    };

    // Only the empty device is in the file for review.
    const file = join(folder, 'drives.yaml');
    const found = await call(
      'discover',
      first,
      second,
      '--node-name',
      'n1',
      '--output-file',
      file,
      '-o',
      'json',
    );
    expect(found.json.devices).toMatchObject([
      { device: first, available: true },
      { device: second, available: false, obstacle: 'Data', filesystem: 'ext4' },
    ]);
    expect(readFileSync(file, 'utf8')).not.toContain(second.replace('/dev/', 'name: '));
    const refused = await onCluster('init', second, '--node-name', 'n1', '--yes');
    expect([refused.status, refused.text]).toEqual([
      1,
      expect.stringContaining('1 of 1 devices are no drives'),
    ]);

    const made = await onCluster('init', file, '--node-name', 'n1', '--yes', '--tier', 'Hot', '-o', 'json');
    expect(made.json.devices).toMatchObject([{ device: first, result: 'formatted' }]);
    const drive = (await driveNow())!;
    const name = drive.metadata!.name!;
    const uuid = drive.spec!.filesystemUUID!;
    expect(name).toBe(`n1-${uuid.slice(0, 8)}`);
    expect(
      execFileSync('blkid', ['-p', '-s', 'UUID', '-o', 'value', first], { encoding: 'utf8' }).trim(),
    ).toBe(uuid);
    // What was reviewed is no longer what is there.
    expect((await onCluster('init', file, '--node-name', 'n1', '--yes')).text).toContain('has changed since');

    // While it is mounted and has volumes, it is neither repaired nor removed.
    const mount = join(folder, 'mount');
    mkdirSync(mount);
    execFileSync('mount', ['-t', 'xfs', first, mount]);
    try {
      const mark = JSON.parse(readFileSync(join(mount, 'stowage-drive.json'), 'utf8'));
      expect(mark).toEqual({ version: 1, node: 'n1', uuid });
      const busy = await onCluster('repair', name);
      expect([busy.status, busy.text]).toEqual([1, expect.stringContaining(`is mounted at ${mount}`)]);
    } finally {
      execFileSync('umount', [mount]);
    }
    const status = { capacityBytes: 500 * mib, state: 'Ready', device: { path: first } };
    await client.call('PATCH', `${drivesPath}/${name}/status`, { body: { status }, contentType: merge });
    const claimRef = { namespace: 'shop', name: 'data' };
    const spec = { volumes: [{ name: 'pvc-1', sizeBytes: 100 * mib, claimRef }] };
    await client.call('PATCH', `${drivesPath}/${name}`, { body: { spec }, contentType: merge });
    expect((await onCluster('remove', name)).text).toContain('has volumes: pvc-1 of claim shop/data');
    expect((await onCluster('info', 'shop/data', '-o', 'json')).json.volumes).toMatchObject([
      { volume: 'pvc-1', drive: name, node: 'n1', device: first },
    ]);
    await onCluster('cordon', name);
    expect((await onCluster('list', '-o', 'json')).json.drives).toMatchObject([
      { drive: name, tier: 'Hot', isCordoned: true, usedBytes: 100 * mib, freeBytes: 400 * mib },
    ]);

    await client.call('PATCH', `${drivesPath}/${name}`, {
      body: { spec: { volumes: [] } },
      contentType: merge,
    });
    const repaired = await onCluster('repair', name);
    expect([repaired.status, repaired.text]).toEqual([0, '']);
    expect((await driveNow())?.status?.state).toBeUndefined();
    expect((await onCluster('remove', name)).status).toBe(0);
    expect(await driveNow()).toBeUndefined();
    // The object is gone as after a crash before the registration: nothing is formatted again.
    const again = await onCluster('init', first, '--node-name', 'n1', '--yes', '-o', 'json');
    expect(again.json.devices).toMatchObject([{ result: 'registered', drive: name }]);
    expect((await driveNow())?.spec?.filesystemUUID).toBe(uuid);

    // A node that exists is not forgotten.
    expect((await onCluster('forget', 'n1', '--yes')).text).toContain('Node n1 exists');
    await client.call('DELETE', '/api/v1/nodes/n1');
    expect((await onCluster('forget', 'n1', '--yes')).status).toBe(0);
    expect(await driveNow()).toBeUndefined();
  }, 900_000);

  test('moves volumes with their data to another drive', async () => {
    const folder = temporaryFolder();
    const up = await StowageProcess.up(join(folder, 'data'), '--controllers', 'none');
    const client = new ApiClient(up.access);
    onTestFinished(() => client.close());
    await client.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'n1' } } });
    const devices = ['source', 'target'].map((name) => loopDevice(folder, name));
    const mount = join(folder, 'mount');
    mkdirSync(mount);
    const mounted = (device: string, use: () => void) => {
      execFileSync('mount', ['-t', 'xfs', device, mount]);
      try {
        use();
      } finally {
        execFileSync('umount', [mount]);
      }
    };
    const call = (...args: readonly string[]) =>
      callStowage('drives', ...args, '--kubeconfig', up.kubeconfig);
    const { stdout } = await call('init', ...devices, '--node-name', 'n1', '--yes', '-o', 'json');
    const [source = '', target = ''] = (
      JSON.parse(stdout) as { devices: readonly { drive: string }[] }
    ).devices.map(({ drive }) => drive);
    const volume = { name: 'pvc-1', sizeBytes: 100 * mib };
    for (const name of [source, target]) {
      const status = { capacityBytes: 400 * mib, state: 'Ready' };
      const spec = { unschedulable: true, ...(name === source && { volumes: [volume] }) };
      await client.call('PATCH', `${drivesPath}/${name}/status`, { body: { status }, contentType: merge });
      await client.call('PATCH', `${drivesPath}/${name}`, { body: { spec }, contentType: merge });
    }
    const file = join(mount, 'volumes/pvc-1/file');
    mounted(devices[0]!, () => {
      mkdirSync(join(mount, 'volumes/pvc-1'), { recursive: true });
      writeFileSync(file, 'data', { mode: 0o640 });
      chownSync(file, 1234, 5678);
    });

    // The node service has mounted the target, and a pod uses a volume of it.
    const [served, used] = [join(folder, 'served'), join(folder, 'used')];
    for (const path of [served, used]) mkdirSync(path);
    execFileSync('mount', ['-t', 'xfs', devices[1]!, served]);
    onTestFinished(() => void execFileSync('umount', [served]));
    mkdirSync(join(served, 'volumes/pvc-other'), { recursive: true });
    execFileSync('mount', ['--bind', join(served, 'volumes/pvc-other'), used]);
    onTestFinished(() => void execFileSync('umount', [used]));
    const { status, stdout: text, stderr } = await call('move', source, target);
    writeFileSync(join(used, 'file'), 'of a pod that runs');
    expect([status, text, stderr]).toEqual([0, `pvc-1 moved to drive.stowage.dev/${target}\n`, '']);
    mounted(devices[1]!, () => {
      expect(readFileSync(file, 'utf8')).toBe('data');
      const { mode, uid, gid } = statSync(file);
      expect([mode & 0o777, uid, gid]).toEqual([0o640, 1234, 5678]);
    });
    mounted(devices[0]!, () => expect(existsSync(join(mount, 'volumes/pvc-1'))).toBe(false));
    const drive = async (name: string) => (await client.call('GET', `${drivesPath}/${name}`)).body as Drive;
    expect((await drive(source)).spec?.volumes).toEqual([]);
    expect((await drive(target)).spec?.volumes).toMatchObject([volume]);
    expect((await drive(source)).status?.state).toBeUndefined();
    expect((await drive(target)).status?.state).toBe('Ready');
  }, 900_000);
});

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient } from './api-client.ts';
import { callInProcess } from './in-process.ts';
import { callStowage, newFolder, removeFolder, StowageProcess } from './stowage-process.ts';

interface StoredCondition {
  readonly type: string;
  readonly status: string;
}

const objects = '/apis/stowage.dev/v1alpha1';
const mib = 2 ** 20;

describe('stowage disks', () => {
  let folder = '';
  let up: StowageProcess;
  let client: ApiClient;

  beforeAll(async () => {
    folder = newFolder();
    const nodes = ['n1', 'n2'].flatMap((name) => {
      mkdirSync(join(folder, name));
      return ['--storage-node', `${name}=${join(folder, name)}`];
    });
    up = await StowageProcess.up(join(folder, 'data'), ...nodes);
    client = new ApiClient(up.access);
  });
  afterAll(() => removeFolder(folder));

  const disks = async (...args: readonly string[]) =>
    await callInProcess('disks', ...args, '--kubeconfig', up.kubeconfig);

  /** Runs a command in a separate process, which must end. */
  const disksProcess = async (...args: readonly string[]) =>
    await callStowage('disks', ...args, '--kubeconfig', up.kubeconfig);

  const states = async () => {
    const { stdout } = await disks('list', '-o', 'json');
    const { disks: lines } = JSON.parse(stdout) as { disks: readonly { state: string }[] };
    return lines.map(({ state }) => state);
  };

  const addVolume = async (name: string, size: number, numberOfReplicas: number) => {
    const body = {
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'Volume',
      metadata: { name },
      spec: { size, numberOfReplicas },
    };
    expect((await client.call('POST', `${objects}/volumes`, { body })).status).toBe(201);
  };

  /** Whether a condition of an object is True. */
  const has = async (path: string, type: string) => {
    const { body } = await client.call('GET', `${objects}/${path}`);
    const { status } = body as { readonly status?: { readonly conditions?: readonly StoredCondition[] } };
    return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True');
  };

  test('lists disks, and describes a volume, its disks and its node', async () => {
    await addVolume('db', 4 * mib, 2);
    await expect.poll(() => has('volumes/db', 'DiskAllocation')).toBe(true);
    expect(await states()).toEqual(['Ready', 'Ready']);
    expect((await disksProcess('list', '-o', 'name')).stdout).toBe('disk/n1/default\ndisk/n2/default\n');
    expect((await disks('list', '--volumes')).stdout).toMatch(/^ {2}db +4Mi +2 +2 +\d +\w+ +Allocated$/m);
    expect((await disksProcess('describe', 'n1/default')).stdout).toMatch(
      /^ {2}replica +db-r\d +db +4Mi +4Mi /m,
    );
    expect((await disks('describe', 'node/n1')).stdout).toMatch(/^Takes new replicas: yes$/m);
    const { stdout } = await disks('describe', 'db');
    expect(stdout).toMatch(/^Replicas: +2 wanted, 2 placed/m);
    expect(stdout).toMatch(/^ {2}db-r0 +n[12] +default /m);
  });

  test('evict says what can not move, and why, and cancels the eviction', async () => {
    const status = async () => (await disks('evict', 'node/n1')).status;
    await expect.poll(status).toBe(3);
    const { stdout, stderr } = await disksProcess('evict', 'node/n1');
    expect(stderr).toMatch(/^stowage: node\/n1: replica db-r\d can't move: /);
    expect(stdout).toMatch(/Blocked +replica db-r\d: .*its node n2 has another replica/);
    expect(await states()).toEqual(['Evicting', 'Ready']);
    expect(await disks('evict', 'n1/default', '--undo')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('but StorageNode n1 has evictionRequested: true; cancel that too with'),
    });
    expect(await disks('uncordon', 'n1/default')).toMatchObject({
      stdout: 'disk/n1/default already uncordoned; node/n1 is still cordoned\n',
    });
    expect(await disksProcess('evict', 'node/n1', '--undo')).toMatchObject({
      status: 0,
      stdout: 'node/n1 is not evicted, and takes new replicas and copies\n',
    });
    expect(await states()).toEqual(['Ready', 'Ready']);
  });

  test('an image is uploaded, verified, and deleted', async () => {
    const file = join(folder, 'image');
    writeFileSync(file, randomBytes(3 * mib));
    expect(await disksProcess('image', 'upload', 'ubuntu', file)).toMatchObject({
      status: 0,
      stdout: 'image/ubuntu ready\n',
      stderr: '',
    });
    // The agent reports the copy, and then the controller writes the image's condition.
    await expect.poll(() => has('backingimages/ubuntu', 'Ready')).toBe(true);
    expect((await disksProcess('image', 'list')).stdout).toMatch(
      /^ {2}ubuntu +3Mi +1 +1 +100 % +upload +Ready$/m,
    );
    const { stdout } = await disks('describe', 'image/ubuntu', '-o', 'json');
    const [copy] = (JSON.parse(stdout) as { copies: readonly { node: string }[] }).copies;
    const path = join(folder, copy!.node, 'images', 'ubuntu', 'data.img');
    expect(readFileSync(path).equals(readFileSync(file))).toBe(true);
    expect(await disks('image', 'upload', 'ubuntu', file)).toMatchObject({ status: 0 });
    writeFileSync(file, 'other');
    expect(await disks('image', 'upload', 'ubuntu', file)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('image ubuntu exists already, with other data; choose another name'),
    });
    expect(await disksProcess('image', 'delete', 'ubuntu')).toMatchObject({
      status: 0,
      stdout: 'image/ubuntu deleted\n',
    });
    const isGone = async () => (await client.call('GET', `${objects}/backingimages/ubuntu`)).status === 404;
    await expect.poll(isGone).toBe(true);
  });

  test('a disk with replicas is not removed, and a disk that responds is not abandoned', async () => {
    expect(await disks('remove', 'n1/default')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /^stowage: disk n1\/default is not empty: replica db-r\d; move them with/,
      ),
    });
    expect(await disksProcess('uncordon', 'n1/default')).toMatchObject({
      stdout: 'disk/n1/default uncordoned\n',
    });
    expect(await disks('remove', 'n1/default', '--force', '--yes')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("disk n1/default answers, so it can't be given up with --force"),
    });
  });

  test.each<[readonly string[], number, string]>([
    [['list', '--node', 'n9'], 1, '--node: there is no StorageNode n9; there are n1, n2'],
    [
      ['list', '--selector', 'a,,b'],
      2,
      '--selector: "a,,b" must be tags, separated by commas; see stowage disks list',
    ],
    [['list', '-o', 'xml'], 2, '-o: "xml" must be one of table, wide, json, yaml, name'],
    [['describe', 'nothing'], 1, 'there is no disk, node, volume or image named nothing; there are disk/n1'],
    [
      ['describe', 'default'],
      2,
      '"default" is ambiguous; it must be one of disk/n1/default, disk/n2/default',
    ],
    [['evict', 'volume/db'], 1, '"volume/db" must name a node or a disk; there are disk/n1/default'],
    [['evict', 'n1', '--timeout', '5'], 2, '--timeout: only has a meaning with --wait'],
    [['evict', 'n1', '--wait', '--timeout', '5'], 2, '--timeout: "5" must be a duration above 0'],
    [['evict', 'n1', '--wait', '--undo'], 2, '--wait: there is nothing to wait for with --undo'],
    [['image', 'create', 'a', '--url', 'ftp://x'], 2, '--url: "ftp://x" must begin with http:// or https://'],
    [['image', 'create', 'A', '--url', 'http://x'], 2, 'image "A": '],
    [['image', 'upload', 'a', '/nowhere'], 1, '/nowhere: '],
    [['image', 'from-volume', 'a', 'v'], 1, 'there is no Volume v; stowage disks list --volumes shows all'],
    [['image', 'delete', 'a'], 1, 'there is no image a; stowage disks image list shows all'],
    [['image', 'nonsense'], 2, "error: unknown command 'nonsense'"],
  ])('refuses %j', async (args, status, message) => {
    const { kubeconfig } = up;
    expect(await callInProcess('disks', ...args, '--kubeconfig', kubeconfig)).toMatchObject({
      status,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});

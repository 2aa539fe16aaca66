import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ApiClient } from './api-client.ts';
import { callInProcess } from './in-process.ts';
import { callStowage, newFolder, removeFolder, StowageProcess, temporaryFolder } from './stowage-process.ts';

interface Item {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly nodeID?: string;
    readonly volumeName?: string;
    readonly backingImages?: unknown;
  };
  readonly status: {
    readonly phase: string;
    readonly replicas?: unknown;
    readonly backingImages?: unknown;
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
  };
  readonly capacity?: string;
}

async function items(stowage: StowageProcess, path: string): Promise<readonly Item[]> {
  const { body } = await new ApiClient(stowage.access).call('GET', path);
  return (body.items ?? []) as unknown as readonly Item[];
}

const demoPods = '/api/v1/namespaces/demo/pods';

/** The name without the random suffix of pods of a deployment. */
function stemOf({ metadata }: Item): string {
  return metadata.name.replace(/^web-.*/, 'web');
}

function zoneOf({ spec }: Item): string {
  return spec.nodeName?.replace(/^node-(.).*/, '$1') ?? '';
}

describe('stowage up --demo', () => {
  let folder = '';
  let stowage: StowageProcess;
  let pods: readonly Item[] = [];

  beforeAll(async () => {
    folder = newFolder();
    stowage = await StowageProcess.up(join(folder, 'data'), '--demo');
    pods = await items(stowage, demoPods);
  });
  afterAll(() => removeFolder(folder));

  const called = (name: string) => pods.filter((pod) => stemOf(pod).startsWith(name));
  const nodesOf = (name: string) =>
    called(name)
      .map(({ spec }) => spec.nodeName)
      .sort();

  test('prints what it does, and what to try when it is ready', async () => {
    // The hints follow the path of the kubeconfig.
    await expect.poll(() => stowage.stderr).toContain('\nstowage: the console is on ');
    expect(stowage.stdout).toBe(`export KUBECONFIG=${folder}/data/kubeconfig\n`);
    const said = stowage.stderr.split('\n');
    expect(said[0]).toMatch(/^stowage: starting /);
    expect(said[1]).toMatch(/^stowage: listening on /);
    expect(said.slice(2, 5)).toEqual([
      'stowage: loading the demo: 6 nodes in 3 zones, 4 storage classes, 5 local disks, 4 drives, 4 stateful sets, 5 single pods',
      'stowage: created 42 objects, 0 existed; waiting for the pods',
      'stowage: 15 pods run, 4 fit nowhere and say why',
    ]);
    const commands = said.filter((line) => /^ {2}\S/.test(line));
    expect(commands).toEqual([
      '  kubectl get pods -n demo -o wide',
      '  kubectl describe pod -n demo too-big',
      expect.stringMatching(/^ {2}node .*main\.js explain pod demo\/too-big$/),
    ]);
  });

  test('has running and pending pods', () => {
    const names = (phase: string) =>
      pods
        .filter(({ status }) => status.phase === phase)
        .map(stemOf)
        .sort();
    expect(names('Pending')).toEqual(['pool-too-small', 'too-big', 'too-hungry', 'torn-apart']);
    expect(names('Running')).toEqual([
      ...['cache-0', 'cache-1', 'cache-2', 'db-0', 'db-1', 'db-2'],
      ...['nightly', 'queue-0', 'queue-1', 'store-0', 'store-1', 'store-2', 'web', 'web', 'web'],
    ]);
  });

  test('has each pod on a node that its volumes and rules allow', () => {
    expect(nodesOf('db'), 'the disks that are just large enough').toEqual(['node-a1', 'node-b1', 'node-c1']);
    expect(nodesOf('nightly'), 'the node that it tolerates').toEqual(['node-c2']);
    expect(called('web').map(zoneOf).sort(), 'one in each zone').toEqual(['a', 'b', 'c']);
    expect(new Set(called('queue').map(zoneOf)).size, 'apart').toBe(2);
    expect(nodesOf('cache').every((node) => node === 'node-a2' || node === 'node-b2')).toBe(true);
    expect(
      nodesOf('store').every((node) => /^node-[abc]1$/.test(node ?? '')),
      'where drives are',
    ).toBe(true);
  });

  test('has pools whose free capacity is never negative', async () => {
    const path = '/apis/storage.k8s.io/v1/namespaces/kube-system/csistoragecapacities';
    const left = async () =>
      (await items(stowage, path))
        .map(({ metadata, capacity }) => `${metadata.name} ${capacity}`)
        .filter((line) => line.startsWith('demo-pools-'))
        .sort();
    const taken = (node: string) => 40 * nodesOf('cache').filter((name) => name === node).length;
    const expected = ['node-a2', 'node-b2'].map((node) => `demo-pools-${node} ${100 - taken(node)}Gi`);
    await expect.poll(left, { timeout: 120_000 }).toEqual(expected);
  });

  test.each([
    [
      'too-big',
      "1 node(s) had untolerated taint(s), 5 node(s) didn't find available persistent volumes to bind.",
      'claim demo/too-big, volume disk-b2: it is smaller than the request (needs 800Gi, has 500Gi).',
    ],
    [
      'torn-apart',
      "2 node(s) didn't find available persistent volumes to bind, 3 node(s) didn't match Pod's node affinity/selector.",
      '',
    ],
    ['pool-too-small', '5 node(s) did not have enough free storage.', 'claim demo/pool-too-small'],
    ['too-hungry', '1 node(s) had untolerated taint(s), 5 Insufficient cpu.', ''],
  ])('%s has the reason in its condition', async (name, upstream, ours) => {
    const message = async () => {
      const pod = (await items(stowage, demoPods)).find(({ metadata }) => metadata.name === name);
      return pod?.status.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '';
    };
    // The first attempt may have been made before other pods had their volumes.
    await vi.waitFor(
      async () => {
        const found = await message();
        expect(found).toMatch(/^0\/6 nodes are available: /);
        expect(found).toContain(upstream);
        expect(found).toContain(ours);
      },
      { timeout: 120_000, interval: 100 },
    );
  });

  test('counts the work of server, controllers and scheduler in /metrics', async () => {
    const read = async () => (await new ApiClient(stowage.access).call('GET', '/metrics')).text;
    // A pod that is tried again is in another queue for a moment.
    await expect.poll(read).toContain('\nstowage_scheduler_pending_pods{queue="unschedulable"} 4\n');
    const page = await read();
    expect(page).toMatch(/\nstowage_apiserver_requests_total [1-9]/);
    expect(page).toMatch(/\nstowage_scheduler_attempts_total\{result="scheduled"\} (1[2-9]|[2-9]\d)/);
    expect(page).toMatch(
      /\nstowage_api_requests_total\{verb="create",resource="pods\/binding",code="201"\} 15\n/,
    );
  });

  test('explain refuses a pod whose claims fit a pool one by one and not together, as its condition does', async () => {
    const client = new ApiClient(stowage.access);
    const path = '/apis/storage.k8s.io/v1/namespaces/kube-system/csistoragecapacities';
    const free = (await items(stowage, path))
      .filter(({ metadata }) => metadata.name.startsWith('demo-pools-'))
      .map(({ capacity }) => Number.parseInt(capacity ?? '', 10));
    const storage = `${Math.max(...free) / 2 + 10}Gi`;
    for (const name of ['one', 'two']) {
      await client.call('POST', '/api/v1/namespaces/default/persistentvolumeclaims', {
        body: {
          metadata: { name },
          spec: {
            storageClassName: 'pools',
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage } },
          },
        },
      });
    }
    const pods = '/api/v1/namespaces/default/pods';
    const volumes = ['one', 'two'].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
    const spec = { containers: [{ name: 'main', image: 'pause' }], volumes };
    await client.call('POST', pods, { body: { metadata: { name: 'both' }, spec } });
    const condition = async () => {
      const [pod] = await items(stowage, pods);
      return pod?.status.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '';
    };
    const refused = 'node(s) did not have enough free storage';
    await expect.poll(condition, { timeout: 120_000 }).toContain(refused);
    const kubeconfig = `${folder}/data/kubeconfig`;
    const { status, stdout } = await callStowage('explain', 'default/both', '--kubeconfig', kubeconfig);
    expect([status, stdout]).toEqual([3, expect.stringContaining(refused)]);
    expect(stdout).toContain('profile stowage');
    expect(stdout).not.toContain('would fit');
    expect(stdout).not.toContain('disagree');
    await client.call('DELETE', `${pods}/both`);
  });

  test('a claim of the class stowage-disks has a replica on three nodes, and its pod runs', async () => {
    const client = new ApiClient(stowage.access);
    const folderOf = (plural: string) => `/api/v1/namespaces/default/${plural}`;
    const claim = {
      storageClassName: 'stowage-disks',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Mi' } },
    };
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'ledger' } }];
    const spec = { containers: [{ name: 'main', image: 'pause' }], volumes };
    const metadata = { name: 'ledger' };
    await client.call('POST', folderOf('persistentvolumeclaims'), { body: { metadata, spec: claim } });
    await client.call('POST', folderOf('pods'), { body: { metadata, spec } });
    const phase = async () =>
      (await items(stowage, folderOf('pods'))).find(({ metadata: { name } }) => name === 'ledger')?.status
        .phase;
    await expect.poll(phase, { timeout: 120_000 }).toBe('Running');
    const replicas = await items(stowage, '/apis/stowage.dev/v1alpha1/replicas');
    const nodes = replicas
      .filter(({ spec: { volumeName } }) => volumeName?.startsWith('pvc-'))
      .map(({ spec: { nodeID } }) => nodeID)
      .sort();
    expect(nodes).toEqual(['node-a1', 'node-b1', 'node-c1']);
    await client.call('DELETE', `${folderOf('pods')}/ledger`);
  });

  test('has a disk that is too full for one of its two requests', async () => {
    const path = '/apis/stowage.dev/v1alpha1/diskschedules';
    const [gib, reason] = [2 ** 30, 'InsufficientStorage'];
    const verdicts = async () =>
      (await items(stowage, path)).find(({ metadata }) => metadata.name.startsWith('3f8d21c6'))?.status
        .replicas;
    await expect.poll(verdicts, { timeout: 120_000 }).toEqual({
      'films-r0': { state: 'rejected', scheduledSize: 0, observedSize: 80 * gib, reason },
      'photos-r0': { state: 'scheduled', scheduledSize: 30 * gib, observedSize: 30 * gib },
    });
  });

  test('has a disk that does not answer, and a request that stays pending there', async () => {
    const path = '/apis/stowage.dev/v1alpha1/diskschedules';
    const found = (await items(stowage, path)).find(({ metadata }) => metadata.name.startsWith('7c2a90f1'));
    expect(found?.spec).toMatchObject({ backingImages: { debian: 4 * 2 ** 30 } });
    expect(found?.status.backingImages ?? {}).toEqual({});
    const { status, stdout } = await callInProcess(
      ...['disks', 'list', '--kubeconfig', stowage.kubeconfig, '-o', 'json'],
    );
    expect([status, JSON.parse(stdout).disks]).toEqual([
      0,
      expect.arrayContaining([
        expect.objectContaining({ node: 'node-b1', disk: 'usb', state: 'NotReady', pendingCount: 1 }),
      ]),
    ]);
  });

  test('continues after Ctrl-C, and starts over only with --fresh', async () => {
    expect(await stowage.stop('SIGINT')).toEqual({ status: 0, signal: null });
    const again = await StowageProcess.up(join(folder, 'data'), '--demo');
    expect(again.stderr).toContain('stowage: created 0 objects, 42 existed; waiting for the pods\n');
    const uids = (list: readonly Item[]) => list.map(({ metadata }) => metadata.uid).sort();
    expect(uids(await items(again, demoPods))).toEqual(uids(pods));
    await again.stop('SIGINT');

    const fresh = await StowageProcess.up(join(folder, 'data'), '--demo', '--fresh');
    expect(fresh.stderr).toContain('stowage: created 42 objects, 0 existed; waiting for the pods\n');
    const before = new Set(uids(pods));
    expect(uids(await items(fresh, demoPods)).filter((uid) => before.has(uid))).toEqual([]);
    await fresh.stop();
  });
});

test('--fresh keeps a directory that stowage did not create', async () => {
  const data = temporaryFolder();
  writeFileSync(join(data, 'thesis.txt'), 'years of work');
  const { status, stderr } = await callStowage('up', '--data', data, '--port', '0', '--fresh');
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining(`--fresh: ${data} is not deleted: it has no file stowage-data`),
  ]);
  expect(readdirSync(data)).toEqual(['thesis.txt']);
  expect(readFileSync(join(data, 'thesis.txt'), 'utf8')).toBe('years of work');
});

test('--fresh keeps a directory that another process uses', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await StowageProcess.up(data);
  const { status, stderr } = await callStowage('up', '--data', data, '--port', '0', '--fresh');
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining(`is in use by process ${first.pid}; stop it`),
  ]);
  expect((await new ApiClient(first.access).call('GET', '/readyz')).status).toBe(200);
});

test('--log-format json writes one JSON object per line', async () => {
  const stowage = await StowageProcess.up(temporaryFolder(), '--log-format', 'json', '--verbose');
  await stowage.stop();
  const lines = stowage.stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.at(0)).toMatchObject({ level: 'info', message: expect.stringMatching(/^starting /) });
  expect(lines.at(-1)).toMatchObject({ level: 'info', message: 'SIGTERM: stopping' });
});

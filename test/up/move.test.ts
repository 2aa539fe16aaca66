import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Pod } from '../../src/kube/api/core.ts';
import type { Replica } from '../../src/kube/stowage/replica.ts';
import { ApiClient } from './api-client.ts';
import { callInProcess } from './in-process.ts';
import { callStowage, newFolder, removeFolder, StowageProcess } from './stowage-process.ts';

const podsPath = '/api/v1/namespaces/demo/pods';

describe('stowage drain-plan and move, on stowage up --demo', () => {
  let folder = '';
  let stowage: StowageProcess;
  let client: ApiClient;

  beforeAll(async () => {
    folder = newFolder();
    stowage = await StowageProcess.up(join(folder, 'data'), '--demo');
    client = new ApiClient(stowage.access);
  });
  afterAll(() => {
    client.close();
    removeFolder(folder);
  });

  const access = () => ['--kubeconfig', stowage.kubeconfig];
  const inProcess = async (...args: readonly string[]) => {
    const { status, stdout, stderr } = await callInProcess(...args, ...access(), '-o', 'json');
    expect(stderr).toBe('');
    return { status, report: JSON.parse(stdout) };
  };
  const nodeOf = async (name: string) =>
    ((await client.call('GET', `${podsPath}/${name}`)).body as Pod).spec?.nodeName;

  test('prepares a drive of another machine, and uncordons everything again when it is cancelled', async () => {
    const drive = 'drive/node-b1-b7f6c1de';
    const plan = await inProcess('drain-plan', drive);
    expect([plan.status, plan.report.summary]).toEqual([
      0,
      'Empty drive node-b1-b7f6c1de: 4 steps, 1 pod to stop, 60Gi to copy. Nothing is left on it then.',
    ]);
    const steps = plan.report.steps as readonly { readonly pods: readonly { readonly pod: string }[] }[];
    const [pod = ''] = steps.flatMap(({ pods }) => pods).map((line) => line.pod.replace('demo/', ''));

    const moved = await inProcess('move', drive, '--yes');
    expect([moved.status, moved.report]).toMatchObject([
      3,
      {
        state: 'CommandsNeeded',
        changes: [
          'drive/node-b1-b7f6c1de cordoned',
          'drive/node-b1-e03f9a52 cordoned for 1 volume of drive/node-b1-b7f6c1de',
          'node/node-b1 cordoned',
          `pod/demo/${pod} evicted`,
        ],
        commands: [{ node: 'node-b1', command: 'stowage drives move node-b1-b7f6c1de node-b1-e03f9a52' }],
      },
    ]);
    // The StatefulSet creates it again, and it waits for its node.
    await expect.poll(async () => (await client.call('GET', `${podsPath}/${pod}`)).status).toBe(200);
    expect(await nodeOf(pod)).toBeUndefined();

    const undone = await callStowage('move', drive, '--undo', ...access());
    expect([undone.status, undone.stderr]).toEqual([0, '']);
    expect(undone.stdout).toBe(
      'drive/node-b1-e03f9a52 uncordoned\nnode/node-b1 uncordoned\ndrive/node-b1-b7f6c1de uncordoned\nthe move of drive/node-b1-b7f6c1de was cancelled\n',
    );
    await expect.poll(() => nodeOf(pod)).toBe('node-b1');
  });

  test('empties a node, when the remedies for the volumes that cannot leave it have been carried out', async () => {
    const first = await inProcess('move', 'node-a1', '--yes');
    expect([first.status, first.report.state]).toEqual([3, 'Left']);
    const left = first.report.left as readonly { readonly name: string; readonly remedy: string }[];
    for (const { remedy } of left) {
      const [, claim = '', pod = ''] = / delete claim demo\/(\S+), .* pod demo\/(\S+):/.exec(remedy) ?? [];
      expect([pod, claim]).toEqual([expect.stringMatching(/^(db|store)-\d$/), `data-${pod}`]);
      await client.call('DELETE', `/api/v1/namespaces/demo/persistentvolumeclaims/${claim}`);
      await client.call('DELETE', `${podsPath}/${pod}`);
      await expect.poll(() => nodeOf(pod)).toMatch(/^node-(a2|b|c)/);
    }
    // Data on drives is deleted with the claim. A local disk keeps its data, until a person deletes its PersistentVolume.
    const kept = left.map(({ name }) => name).filter((name) => name.startsWith('disk-'));
    const names = async () =>
      (await callInProcess('drain-plan', 'node-a1', ...access(), '-o', 'name')).stdout;
    await expect.poll(names).toBe(kept.map((name) => `volume ${name}\n`).join(''));
    for (const name of kept) await client.call('DELETE', `/api/v1/persistentvolumes/${name}`);
    await expect.poll(names).toBe('');
    const last = await callStowage('move', 'node-a1', '--yes', ...access());
    expect([last.status, last.stderr, last.stdout.split('\n').at(-2)]).toEqual([
      0,
      '',
      'node/node-a1 is done',
    ]);
  });
});

test('stowage move brings a replica to another node, with its data', async () => {
  const folder = newFolder();
  onTestFinished(() => removeFolder(folder));
  const names = ['n1', 'n2'];
  for (const name of names) mkdirSync(join(folder, name));
  const flags = names.flatMap((name) => ['--storage-node', `${name}=${join(folder, name)}`]);
  const up = await StowageProcess.up(join(folder, 'data'), ...flags);
  const client = new ApiClient(up.access);
  onTestFinished(() => client.close());
  const create = async (path: string, body: object) =>
    expect((await client.call('POST', path, { body })).status).toBe(201);
  for (const name of names) await create('/api/v1/nodes', { metadata: { name } });
  const kinds = '/apis/stowage.dev/v1alpha1';
  const size = 2 ** 20;
  await create(`${kinds}/volumes`, {
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Volume',
    metadata: { name: 'v' },
    spec: { size, numberOfReplicas: 1 },
  });
  /** The nodes of replicas that have their data. */
  const healthy = async () => {
    const { body } = await client.call('GET', `${kinds}/replicas`);
    return ((body.items ?? []) as readonly Replica[]).flatMap(({ spec, status }) =>
      status?.healthyAt === undefined ? [] : [spec?.nodeID ?? ''],
    );
  };
  await expect.poll(healthy).toHaveLength(1);
  const [from = ''] = await healthy();
  const [to = ''] = names.filter((name) => name !== from);
  const files = (node: string) =>
    readdirSync(join(folder, node, 'replicas')).map((name) =>
      join(folder, node, 'replicas', name, 'data.img'),
    );
  const data = randomBytes(size);
  writeFileSync(files(from)[0]!, data);

  const moved = await callInProcess('move', from, '--yes', '--timeout', '5m', '--kubeconfig', up.kubeconfig);
  expect([moved.stderr, moved.status, moved.stdout.split('\n').at(-2)]).toEqual([
    '',
    0,
    `node/${from} is done`,
  ]);
  expect(await healthy()).toEqual([to]);
  expect(readFileSync(files(to)[0]!).equals(data)).toBe(true);
  await expect.poll(() => files(from)).toEqual([]);
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { claim, localVolume, node, pod, storageClass } from '../../src/engine/testing/objects.ts';
import { ApiClient } from './api-client.ts';
import { callInProcess } from './in-process.ts';
import { kubeconfigFor, unavailableServer } from './kubeconfigs.ts';
import { callStowage, sharedServer, temporaryFolder } from './stowage-process.ts';

const server = sharedServer();

const asPending = {
  ...pod('db-0', ['data']),
  apiVersion: 'v1',
  kind: 'Pod',
  spec: { ...pod('db-0', ['data']).spec, containers: [{ name: 'main', image: 'db' }] },
};

/** All objects, in an order in which they can be created. */
const objects = [
  ['/api/v1/nodes', { ...node('n1'), apiVersion: 'v1', kind: 'Node' }],
  [
    '/apis/storage.k8s.io/v1/storageclasses',
    { ...storageClass('local'), apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
  ],
  [
    '/api/v1/namespaces/default/persistentvolumeclaims',
    { ...claim('data', '5Gi'), apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
  ],
  ['/api/v1/namespaces/default/pods', asPending],
] as const;

describe('stowage explain', () => {
  test('reads a cluster, and its exit status shows whether the pod fits', async () => {
    const up = server();
    const client = new ApiClient(up.access);
    for (const [path, object] of objects) {
      const { metadata } = object;
      const { resourceVersion: _, uid: __, ...rest } = metadata ?? {};
      const { status, text } = await client.call('POST', path, { body: { ...object, metadata: rest } });
      expect([status, text]).toEqual([201, expect.anything()]);
    }
    const { status, stdout, stderr } = await callStowage(
      'explain',
      'pod',
      'db-0',
      '--kubeconfig',
      up.kubeconfig,
    );
    expect([status, stderr]).toEqual([3, '']);
    expect(stdout).toContain('Pod default/db-0 does not fit on the only node:');
    expect(stdout).toContain('1. Create a PersistentVolume of 5Gi, class local, that node n1 can reach');
    const asJson = await callInProcess(
      'explain',
      'claim',
      'data',
      '--kubeconfig',
      up.kubeconfig,
      '-o',
      'json',
    );
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      apiVersion: 'stowage.dev/explanation/v1',
      kind: 'ClaimExplanation',
      state: 'WaitsForScheduler',
      pods: [{ verdict: 'refused' }],
    });
    const name = await callInProcess('explain', 'pod/db-0', '--kubeconfig', up.kubeconfig, '-o', 'name');
    expect(name).toMatchObject({ status: 3, stdout: '', stderr: '' });
    const all = await callStowage('explain', '--kubeconfig', up.kubeconfig);
    expect([all.status, all.stderr]).toEqual([3, '']);
    expect(all.stdout).toMatch(/^1 pod is pending\.\n\n1 POD: on the only node, .*\n {2}default\/db-0\n/);
    const file = join(temporaryFolder(), 'larger.json');
    writeFileSync(
      file,
      JSON.stringify({ ...localVolume('v', '5Gi', 'n1'), apiVersion: 'v1', kind: 'PersistentVolume' }),
    );
    const whatIf = await callStowage('explain', 'pods', '--kubeconfig', up.kubeconfig, '--from', file);
    expect([whatIf.status, whatIf.stderr]).toEqual([0, '']);
    expect(whatIf.stdout).toContain('1 pod is pending (1 would fit now).');
    const namespace = await callInProcess('reservations', '-n', 'nope', '--kubeconfig', up.kubeconfig);
    expect([namespace.status, namespace.stdout]).toEqual([1, '']);
    expect(namespace.stderr).toContain('there is no namespace nope in https:');
    const none = await callInProcess('explain', 'pod', 'shop/web', '--kubeconfig', up.kubeconfig);
    expect([none.status, none.stdout]).toEqual([1, '']);
    expect(none.stderr).toMatch(
      /^stowage: there is no pod shop\/web in https:\S+; there is no namespace shop either; kubectl get namespaces lists/,
    );
  });

  test('reads files, and reports missing objects', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'dump'));
    writeFileSync(join(folder, 'dump/a.json'), JSON.stringify(objects[0][1]));
    writeFileSync(join(folder, 'dump/b.json'), JSON.stringify(asPending));
    const { status, stdout } = await callInProcess('explain', 'pod', 'db-0', '--from', join(folder, 'dump'));
    expect(status).toBe(1);
    expect(stdout).toContain('the cause is unknown: the files contain no PersistentVolumeClaim');
    expect(stdout).toContain(
      'claim default/data is not in the files; if it exists, add the output of kubectl get pvc',
    );
    expect(stdout).toContain('there is no PersistentVolume in the files: existing volumes are not looked at');
  });

  test.each<[string, readonly string[], number, string]>([
    ['another kind', ['node', 'n1'], 2, '"node" cannot be explained; the kind must be pod'],
    [
      'a kind alone',
      ['claim'],
      2,
      '"claim" is a kind, and the name is missing; write claim NAME or claim/NAME; see',
    ],
    [
      'a workload alone',
      ['sts'],
      2,
      '"sts" is a kind, and the name is missing; write sts NAME or sts/NAME; see',
    ],
    ['an unknown kind', ['node/n1'], 2, '"node" cannot be explained; the kind must be pod'],
    [
      'an invalid name',
      ['pod', 'a/b/c'],
      2,
      '"a/b/c" is not a valid name; write NAME or NAMESPACE/NAME; see',
    ],
    ['a format', ['pod', 'a', '-o', 'xml'], 2, '-o: "xml" must be one of table, wide, json, yaml, name; see'],
    ['a profile', ['pod', 'a', '--profile', 'x'], 2, '--profile: "x" must be stowage or upstream; see'],
    [
      'two namespaces',
      ['pod', 'a/b', '-n', 'c'],
      2,
      'the name has namespace a, but -n is c; give only one; see',
    ],
    [
      'no file',
      ['pod', 'a', '--from', '/nowhere/at/all'],
      1,
      '/nowhere/at/all: does not exist; name a file, a folder or -',
    ],
    [
      'no kubeconfig',
      ['pod', 'a', '--kubeconfig', '/nowhere'],
      1,
      'the kubeconfig /nowhere does not exist; choose',
    ],
  ])('prints a clear error for %s', async (_, args, status, message) => {
    const call = await callInProcess('explain', ...args);
    expect([call.status, call.stdout]).toEqual([status, '']);
    expect(call.stderr).toContain(`stowage: ${message}`);
  });

  test('prints a clear error for an unavailable server, and for rejected credentials', async () => {
    const away = kubeconfigFor(unavailableServer, 'x');
    const call = await callStowage('explain', 'pod', 'a', '--kubeconfig', away);
    expect(call.status).toBe(1);
    expect(call.stderr).toMatch(
      /^stowage: cannot read from https:\/\/127\.0\.0\.1:1 \(.*; check that the server runs/,
    );
    const up = server();
    const rejected = await callInProcess(
      'explain',
      'pod',
      'a',
      '--kubeconfig',
      kubeconfigFor(up.access.url, 'wrong', up.access.certificateAuthority),
    );
    expect(rejected.status).toBe(1);
    expect(rejected.stderr).toMatch(/does not accept the credentials of .*; log in again/);
  });
});

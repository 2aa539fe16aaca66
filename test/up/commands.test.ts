import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  claim,
  csiDriver,
  localVolume,
  node,
  pod,
  storageCapacity,
  storageClass,
} from '../../src/engine/testing/objects.ts';
import { builtProgram, compiledCodeFolder } from '../built-program.ts';
import { callInProcess, type ProgramOutput } from './in-process.ts';
import { kubeconfigFor, unavailableServer } from './kubeconfigs.ts';
import { callStowage, StowageProcess, temporaryFolder } from './stowage-process.ts';

/** Commands that read a cluster and exit; `long-running-commands.test.ts` has the others. */
const asking: readonly (readonly string[])[] = [
  ['explain', 'pod', 'a'],
  ['reservations'],
  ['capacity'],
  ['upgrade-zonal-pvs'],
];

const stackTrace = /\n\s+at .+:\d+:\d+/;

async function complaintOf(...args: readonly string[]): Promise<readonly [number | null, string]> {
  return complaint(await callInProcess(...args));
}

function complaint({ status, stdout, stderr }: ProgramOutput): readonly [number | null, string] {
  expect(stdout).toBe('');
  expect(stderr).not.toMatch(stackTrace);
  return [status, stderr];
}

describe.each(asking.map((args) => ({ args })))('stowage $args', ({ args }) => {
  test('prints a clear error for an unavailable server', async () => {
    const away = kubeconfigFor(unavailableServer, 'x');
    const [status, text] = complaint(await callStowage(...args, '--kubeconfig', away));
    expect(status).toBe(1);
    expect(text).toMatch(
      /^stowage: cannot read from https:\/\/127\.0\.0\.1:1 \(.*ECONNREFUSED.*; check that the server runs/,
    );
  });

  test('prints a clear error for an invalid kubeconfig', async () => {
    const file = join(temporaryFolder(), 'config');
    writeFileSync(file, 'kind: Pod\n');
    const [status, text] = await complaintOf(...args, '--kubeconfig', file);
    expect([status, text]).toEqual([
      1,
      expect.stringContaining(`stowage: ${file}: current-context is not set; `),
    ]);
    const [, absent] = await complaintOf(...args, '--kubeconfig', '/nowhere');
    expect(absent).toMatch(/^stowage: the kubeconfig \/nowhere does not exist; choose/);
  });

  test('prints its requests and the cause of an error with --verbose', async () => {
    const away = ['--kubeconfig', kubeconfigFor(unavailableServer, 'secret'), '--verbose'];
    const { status, stdout, stderr } = await callInProcess(...args, ...away);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^stowage: debug: GET https:\/\/127\.0\.0\.1:1\/api\S+: connect ECONNREFUSED 127\.0\.0\.1:1 ms=\d+$/m,
    );
    expect(stderr).toMatch(/^stowage: cannot read from .*\ncaused by: ApiError: GET https/m);
    expect(stderr).toMatch(stackTrace);
    expect(stderr).not.toContain('secret');
  });

  test('rejects unknown flags', async () => {
    const [status, text] = await complaintOf(...args, '--nonsense');
    expect([status, text]).toEqual([2, expect.stringContaining("error: unknown option '--nonsense'")]);
  });
});

describe('on an empty cluster', () => {
  test('every command works, and rejects a wrong token', async () => {
    const up = await StowageProcess.up(temporaryFolder(), '--controllers', 'none');
    const own = ['--kubeconfig', up.kubeconfig];
    expect(await callStowage('reservations', ...own)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Nothing is held: /),
      stderr: '',
    });
    expect(await callStowage('capacity', ...own)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Nothing to measure: /),
      stderr: '',
    });
    expect(await callStowage('upgrade-zonal-pvs', ...own)).toMatchObject({
      status: 0,
      stdout: 'There are no PersistentVolumes, so there is nothing to upgrade.\n',
    });
    const verbose = await callInProcess('capacity', ...own, '--verbose');
    expect([verbose.status, verbose.stdout.split(':')[0]]).toEqual([0, 'Nothing to measure']);
    expect(verbose.stderr).toMatch(/^stowage: debug: GET https:\S+\/api\/v1\/nodes\?\S+ status=200 ms=\d+$/m);
    expect(verbose.stderr).toMatch(/^stowage: debug: reading https:\S+: \d+ objects$/m);
    expect(JSON.parse((await callInProcess('reservations', ...own, '-o', 'json')).stdout)).toEqual({
      apiVersion: 'stowage.dev/reservations/v1',
      kind: 'ReservationsReport',
      volumes: [],
      claims: [],
      expansions: [],
      inlineVolumes: [],
      pools: [],
      pods: [],
      notes: [],
    });
    expect((await callInProcess('capacity', ...own, '-o', 'name')).stdout).toBe('');
    const [missing, text] = await complaintOf('explain', 'claim', 'a', ...own);
    expect([missing, text]).toEqual([1, expect.stringContaining('there is no claim default/a in https://')]);
    expect(await complaintOf('capacity', '--class', 'x', ...own)).toEqual([
      1,
      'stowage: there is no class x, nor anything of it; kubectl get storageclasses lists those there are\n',
    ]);
    for (const args of asking) {
      const [status, refusal] = await complaintOf(
        ...args,
        '--kubeconfig',
        kubeconfigFor(up.access.url, 'wrong', up.access.certificateAuthority),
      );
      expect([args, status, refusal]).toEqual([
        args,
        1,
        expect.stringMatching(/^stowage: https:\S+ does not accept/),
      ]);
      expect(refusal).toMatch(/Unauthorized; log in again, or choose another user/);
    }
  });
});

test.each<[readonly string[], string]>([
  [['reservations', '-o', 'xml'], '-o: "xml" must be one of table, wide, json, yaml, name; see'],
  [['capacity', '-o', ''], '-o: "" must be one of table, wide, json, yaml, name; see'],
  [['reservations', 'pods'], 'error: too many arguments'],
  [['explain', 'node', 'a'], '"node" cannot be explained; the kind must be pod'],
  [['completion'], "error: missing required argument 'shell'"],
  [['upgrade-zonal-pvs', '--dry-run=maybe'], '--dry-run: "maybe" must be true or false'],
])('wrong usage exits with 2: %j', async (args, message) => {
  const [status, text] = await complaintOf(...args);
  expect([status, text]).toEqual([2, expect.stringContaining(message)]);
});

test.each(['reservations', 'capacity'])(
  '%s reports what is wrong with files of another kind',
  async (command) => {
    const folder = temporaryFolder();
    const file = join(folder, 'a.yaml');
    expect(await complaintOf(command, '--from', folder)).toEqual([
      1,
      `stowage: ${folder}: has no .yaml, .yml or .json files\n`,
    ]);
    writeFileSync(file, 'just text');
    expect((await complaintOf(command, '--from', file))[0]).toBe(1);
    writeFileSync(file, '{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}');
    const [status, text] = await complaintOf(command, '--from', file);
    expect([status, text]).toEqual([
      1,
      expect.stringContaining(`there are no objects in ${file}; save some with`),
    ]);
  },
);

test('plan reads its objects from standard input', () => {
  const file = join(temporaryFolder(), 'nodes.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Node', ...node('n1') }));
  const program = builtProgram(new URL('../../src/cli/main.ts', import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, [program, 'plan', '--apply', '-', '--from', file], {
    encoding: 'utf8',
    input:
      'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: { containers: [{ name: c, image: i }] }\n',
    env: { ...process.env, XDG_CACHE_HOME: compiledCodeFolder() },
  });
  expect([stdout, stderr]).toEqual([expect.stringContaining('Apply 1 object: '), '']);
});

test('a reader may close the pipe early', () => {
  const file = join(temporaryFolder(), 'a.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: largeCluster(500) }));
  const program = builtProgram(new URL('../../src/cli/main.ts', import.meta.url));
  const line = '"$0" "$1" capacity -o json --from "$2" | true; echo "$PIPESTATUS"';
  const { stdout, stderr } = spawnSync('bash', ['-c', line, process.execPath, program, file], {
    encoding: 'utf8',
    env: { ...process.env, XDG_CACHE_HOME: compiledCodeFolder() },
  });
  expect([stdout, stderr]).toEqual(['0\n', '']);
});

describe('with rights to read only some kinds', () => {
  test('reports what it could not read, and the consequence', async () => {
    const server = await strictServer(['nodes', 'csistoragecapacities']);
    const { status, stdout } = await callStowage('capacity', '--kubeconfig', server);
    expect(status).toBe(0);
    expect(stdout).toContain(
      'could not read nodes, csistoragecapacities (forbidden): nothing can be said about nodes; capacity is not looked at',
    );
  });

  test('invents nothing if it can read nothing', async () => {
    const server = await strictServer([
      'persistentvolumes',
      'persistentvolumeclaims',
      'csistoragecapacities',
    ]);
    expect(await complaintOf('capacity', '--kubeconfig', server)).toEqual([
      1,
      'stowage: could see neither csistoragecapacities nor persistentvolumes: forbidden; ask for the right to list them\n',
    ]);
    expect(await complaintOf('reservations', '--kubeconfig', server)).toEqual([
      1,
      'stowage: could see neither persistentvolumes nor persistentvolumeclaims: forbidden; ask for the right to list them\n',
    ]);
  });
});

describe('with five thousand nodes', () => {
  test('every reading command works', async () => {
    const file = join(temporaryFolder(), 'cluster.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: largeCluster(5_000) }));
    const table = await callStowage('capacity', '--from', file);
    expect([table.status, table.stderr]).toEqual([0, '']);
    expect(table.stdout).toContain('  and 4,950 more; -o wide shows all');
    expect(table.stdout.split('\n').length).toBeLessThan(120);
    expect(table.stdout).not.toMatch(/[█#]/);
    const whole = JSON.parse((await callInProcess('capacity', '--from', file, '-o', 'json')).stdout);
    expect([whole.pools.length, whole.volumes.length]).toEqual([5_000, 5_000]);
    expect(whole.classes).toMatchObject([{ storageClass: 'dyn', poolCount: 5_000, largestVolume: '10Gi' }]);
    const held = JSON.parse((await callInProcess('reservations', '--from', file, '-o', 'json')).stdout);
    expect(held.claims).toMatchObject([{ claim: 'default/making', node: 'n7', pool: 'storage/n7' }]);
    const explained = await callStowage('explain', 'pod', 'big', '--from', file);
    expect([explained.status, explained.stderr]).toEqual([3, '']);
    expect(explained.stdout).toContain('Pod default/big fits on none of 5,000 nodes');
  });
});

/** Nodes with a local disk and a pool each, a pod that wants more than any disk has, and a claim in flight. */
function largeCluster(count: number): readonly object[] {
  const names = Array.from({ length: count }, (_, at) => `n${at}`);
  const of = (apiVersion: string, kind: string) => (object: object) => ({ apiVersion, kind, ...object });
  const pool = (name: string) =>
    storageCapacity(name, 'dyn', {
      capacity: '10Gi',
      nodeTopology: { matchLabels: { 'kubernetes.io/hostname': name } },
    });
  return [
    ...names.map((name) => node(name)).map(of('v1', 'Node')),
    ...names.map((name) => localVolume(`pv-${name}`, '10Gi', name)).map(of('v1', 'PersistentVolume')),
    ...names.map(pool).map(of('storage.k8s.io/v1', 'CSIStorageCapacity')),
    ...[csiDriver('csi.example.com')].map(of('storage.k8s.io/v1', 'CSIDriver')),
    ...[storageClass('local'), storageClass('dyn', { provisioner: 'csi.example.com' })].map(
      of('storage.k8s.io/v1', 'StorageClass'),
    ),
    ...[claim('huge', '50Gi'), claim('making', '4Gi', { className: 'dyn', selectedNode: 'n7' })].map(
      of('v1', 'PersistentVolumeClaim'),
    ),
    ...[pod('big', ['huge'])].map(of('v1', 'Pod')),
  ];
}

/** An empty API server that forbids listing some resources. Returns a kubeconfig for it. */
async function strictServer(forbidden: readonly string[]): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const plural = url.replace(/\?.*/, '').split('/').at(-1)!;
    const isForbidden = forbidden.includes(plural);
    response.writeHead(isForbidden ? 403 : 200, { 'content-type': 'application/json' });
    const refusal = {
      kind: 'Status',
      status: 'Failure',
      reason: 'Forbidden',
      code: 403,
      message: `no ${plural}`,
    };
    const list = { kind: 'List', metadata: { resourceVersion: '1' }, items: [] };
    response.end(JSON.stringify({ apiVersion: 'v1', ...(isForbidden ? refusal : list) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return kubeconfigFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'x');
}

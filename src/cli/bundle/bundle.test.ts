import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmbeddedServer } from '../../apiserver/embedded-server.ts';
import { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { ownDefinitions } from '../../embedded/own-definitions.ts';
import { claim, pod, storageClass } from '../../engine/testing/objects.ts';
import { type ArchiveFile, tarGz } from '../../io/files/tar-archive.ts';
import {
  nodes,
  persistentVolumeClaims,
  pods,
  secrets,
  serviceAccounts,
  storageClasses,
} from '../../kube/resources.ts';
import { examine } from '../../queries/doctor/examine.ts';
import { explainPendingPods } from '../../queries/explain/pending/explain-many.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import { systemRandom } from '../../runtime/random.ts';
import { readFacts } from '../doctor/read-facts.ts';
import { loadClusterView } from '../source/load-cluster-view.ts';
import { collectBundle } from './collect-bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'stowage-bundle-'));
const secret = 'hunter2hunter2';
const quiet = { clock: realClock, onProgress: () => {} };
let server: EmbeddedServer;
let admin: KubernetesCluster;

async function connect(name: string, kubeconfig: string): Promise<KubernetesCluster> {
  const path = join(folder, name);
  writeFileSync(path, kubeconfig, { mode: 0o600 });
  const options = { kubeconfig: path, clock: realClock, random: systemRandom, env: {} };
  return await KubernetesCluster.connect({ ...options, rateLimit: false });
}

beforeAll(async () => {
  server = await EmbeddedServer.start({
    clock: realClock,
    ids: systemIds,
    random: systemRandom,
    definitions: await ownDefinitions(),
    onError: (error, where) => {
      throw new Error(`the server failed at ${where}`, { cause: error });
    },
  });
  admin = await connect('admin', server.kubeconfig);
  await admin.resource(nodes).create({
    metadata: { name: 'n1' },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } },
  });
  await admin
    .resource(secrets)
    .create({ metadata: { namespace: 'default', name: 's' }, stringData: { password: secret } });
  await admin.resource(storageClasses).create({
    metadata: { name: 'made' },
    provisioner: 'other.example.com',
    parameters: { restuserkey: secret },
    volumeBindingMode: storageClass('x').volumeBindingMode ?? 'WaitForFirstConsumer',
  });
  const { metadata: _, ...wanted } = claim('data', '10Gi', { className: 'absent' });
  await admin
    .resource(persistentVolumeClaims)
    .create({ ...wanted, metadata: { namespace: 'default', name: 'data' } });
  const { spec } = pod('db-0', ['data']);
  await admin.resource(pods).create({
    metadata: {
      namespace: 'default',
      name: 'db-0',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': secret },
    },
    spec: {
      ...spec,
      containers: [
        { name: 'main', image: 'pause', env: [{ name: 'PASSWORD', value: secret }], args: [secret] },
      ],
    },
  });
});

afterAll(async () => {
  await admin.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

function textOfFile(files: readonly ArchiveFile[], path: string): string {
  const found = files.find((file) => file.path === `stowage-bundle/${path}`);
  return found?.content.toString() ?? '';
}

test('a bundle has the state without secrets, and pods can be explained from it', async () => {
  const { files, notReadCount } = await collectBundle(admin, quiet);
  const all = files.map(({ content }) => content.toString()).join('\n');
  expect(all).not.toContain(secret);
  expect(notReadCount).toBe(0);
  const paths = files.map(({ path }) => path.replace('stowage-bundle/', ''));
  expect(paths[0]).toBe('manifest.json');
  expect(paths.slice(1)).toEqual(paths.slice(1).toSorted());
  expect(paths).toEqual(
    expect.arrayContaining(['doctor.txt', 'explain.txt', 'metrics/server.txt', 'objects/pods.json']),
  );
  expect(paths.filter((path) => /secret|configmap|serviceaccount/.test(path))).toEqual([]);
  const manifest = JSON.parse(textOfFile(files, 'manifest.json'));
  expect(manifest.files.map(({ path }: { readonly path: string }) => path)).toEqual(paths.slice(1));
  expect(manifest.versions.server).toBe(await admin.serverVersion());

  for (const { path, content } of files) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const { view } = await loadClusterView({ from: [join(folder, 'stowage-bundle/objects')] });
  const options = { nowMs: realClock.nowMs(), profile: undefined, onProgress: () => {}, where: 'bundle' };
  const causes = (text: string) =>
    JSON.parse(text).causes.map(({ headline }: { headline: string }) => headline);
  const live = textOfFile(files, 'explain.json');
  const fromFiles = JSON.stringify(explainPendingPods(view, undefined, options));
  expect(causes(live).length).toBeGreaterThan(0);
  expect(causes(fromFiles)).toEqual(causes(live));
});

test('what the caller may not read is in the manifest, and the doctor names the missing rights', async () => {
  const account = { namespace: 'default', name: 'no-rights' };
  await admin.resource(serviceAccounts).create({ metadata: account });
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} } as const;
  const { status } = (await admin.resource(serviceAccounts).post(account, 'token', request as never)) as {
    readonly status: { readonly token: string };
  };
  const limited = await connect(
    'limited',
    server.kubeconfig.replace(/^(\s*"?token"?:\s*).*$/m, `$1${JSON.stringify(status.token)}`),
  );
  try {
    const report = examine(await readFacts(limited, quiet));
    expect(report.unchecked).toContainEqual({
      check: 'the state of drives',
      why: 'no right to list drives.stowage.dev',
    });
    expect(report.findings.map(({ code }) => code)).toContain('CallerLacksRights');
    const { files, notReadCount } = await collectBundle(limited, quiet);
    expect(notReadCount).toBeGreaterThan(20);
    const { notRead } = JSON.parse(textOfFile(files, 'manifest.json'));
    expect(notRead).toContainEqual({ what: 'all nodes', why: 'no right to list nodes' });
  } finally {
    await limited.close();
  }
});

test('equal files make equal archives that tar can read', () => {
  const files = [
    { path: 'a/b.txt', content: Buffer.from('x'.repeat(513)) },
    { path: 'empty', content: Buffer.alloc(0) },
  ];
  const options = { modifiedMs: 1_700_000_000_500 };
  const archive = tarGz(files, options);
  expect(archive.equals(tarGz(files, options))).toBe(true);
  const tar = gunzipSync(archive);
  expect(tar.length).toBe(512 * (1 + 2 + 1 + 2));
  const header = tar.subarray(0, 512);
  const field = (from: number, to: number) =>
    header.subarray(from, to).toString().replace(/\0.*$/s, '').trim();
  expect([field(0, 100), field(124, 136), field(136, 148), field(257, 263)]).toEqual([
    'a/b.txt',
    '00000001001',
    (1_700_000_000).toString(8),
    'ustar',
  ]);
  const blank = Buffer.from(header);
  blank.fill(' ', 148, 156);
  expect(Number.parseInt(field(148, 156), 8)).toBe(blank.reduce((sum, byte) => sum + byte, 0));
});

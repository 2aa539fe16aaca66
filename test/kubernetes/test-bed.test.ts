import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isReason } from '../../src/kube/api-error.ts';
import { configMaps, namespaces, nodes, pods } from '../../src/kube/resources.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const foreverConfig = fileURLToPath(new URL('testing/forever.config.ts', import.meta.url));

describe.skipIf(lacks(...serverPrograms, 'kube-scheduler', 'kube-controller-manager', 'kwok'))(
  'a test bed',
  () => {
    test('has a server of the pinned version that kubectl and our client can use', async () => {
      const bed = await startTestBed();
      const cluster = await bed.connect();
      const version = await bed.kubectl(['version', '-o', 'json']);
      expect(version.code).toBe(0);
      const served = await cluster.serverVersion();
      expect(served).toBe(JSON.parse(version.stdout).clientVersion.gitVersion);
      expect(served.startsWith(`v${process.env.STOWAGE_KUBERNETES || '1'}.`)).toBe(true);
      const applied = await bed.kubectl(
        ['create', '-f', '-'],
        '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}',
      );
      expect(applied).toEqual({ stdout: 'namespace/a created\n', stderr: '', code: 0 });
      expect((await bed.kubectl(['get', 'namespace', 'b'])).code).toBe(1);
    });

    test('gives the limited user only granted rights', async () => {
      const bed = await startTestBed();
      const limited = await bed.connect('limited');
      const refused = await limited
        .resource(namespaces)
        .list()
        .catch((error: unknown) => error);
      expect(isReason(refused, 'Forbidden')).toBe(true);
    });

    test('keeps its data when a component restarts', async () => {
      const bed = await startTestBed();
      const cluster = await bed.connect();
      const key = { namespace: 'default', name: 'kept' };
      await cluster.resource(configMaps).create({ metadata: key, data: { a: '1' } });
      const before = bed.pidOf('kube-apiserver');
      await bed.restart('etcd', 'SIGKILL');
      await bed.restart('kube-apiserver');
      expect(bed.pidOf('kube-apiserver')).not.toBe(before);
      expect((await cluster.resource(configMaps).get(key)).data).toEqual({ a: '1' });
    });

    test('simulates nodes and pods with kwok, independently of another bed without kwok', async () => {
      const [played, bare] = await Promise.all([
        startTestBed({ scheduler: true, kwok: true }),
        startTestBed(),
      ]);
      const cluster = await played.connect();
      await cluster.resource(nodes).create({ metadata: { name: 'n1' } });
      await cluster.resource(pods).create({
        metadata: { namespace: 'default', name: 'p' },
        spec: { containers: [{ name: 'main', image: 'pause' }] },
      });
      const waited = await played.kubectl(['wait', 'pod/p', '--for=condition=Ready', '--timeout=300s']);
      expect(waited).toMatchObject({ stderr: '', code: 0 });
      const pod = await cluster.resource(pods).get({ namespace: 'default', name: 'p' });
      expect([pod.spec?.nodeName, pod.status?.phase]).toEqual(['n1', 'Running']);
      expect((await played.kubectl(['delete', 'pod', 'p', '--timeout=300s'])).code).toBe(0);
      expect((await (await bare.connect()).resource(nodes).list()).items).toEqual([]);
    });

    test('reports with its logs which component did not start', async () => {
      const options = { apiServer: { extraFlags: { 'no-such-flag': 1 } } };
      const { message } = await startTestBed(options).then(
        () => new Error('it started'),
        (error: Error) => error,
      );
      expect(message).toMatch(/kube-apiserver exited before it was ready.*unknown flag: --no-such-flag/s);
      const [, folder = ''] = /^the logs of the bed are in (.*)\/logs$/m.exec(message) ?? [];
      expect(existsSync(join(folder, 'logs/kube-apiserver.log'))).toBe(true);
      await rm(folder, { recursive: true });
    });

    test('ends with the process that started it, even if that process is killed', async () => {
      const report = join(await temporaryFolder(), 'report.json');
      const owner = spawn(process.execPath, [vitest, 'run', '--config', foreverConfig], {
        stdio: 'ignore',
        cwd: root,
        env: { ...process.env, FOREVER_REPORT: report },
      });
      while (!existsSync(report) || readFileSync(report, 'utf8') === '') await sleep(20);
      const { folder, pids }: Owned = JSON.parse(readFileSync(report, 'utf8'));
      expect(pids.map(isAlive)).toEqual(pids.map(() => true));
      owner.kill('SIGKILL');
      while (pids.some(isAlive)) await sleep(20);
      expect(existsSync(`${folder}/data`)).toBe(false);
      expect(existsSync(`${folder}/logs/kube-apiserver.log`)).toBe(true);
      await rm(folder, { recursive: true });
    });
  },
);

interface Owned {
  readonly folder: string;
  readonly pids: readonly number[];
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bed-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

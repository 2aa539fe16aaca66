import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ApiClient } from './api-client.ts';
import { callInProcess } from './in-process.ts';
import { accessIn, callStowage, StowageProcess, sharedServer, temporaryFolder } from './stowage-process.ts';

const server = sharedServer();

function started(): { stowage: StowageProcess; admin: ApiClient; folder: string } {
  const stowage = server();
  return { stowage, admin: new ApiClient(stowage.access), folder: temporaryFolder() };
}

async function made(admin: ApiClient, path: string, body: unknown): Promise<void> {
  expect((await admin.call('POST', path, { body })).status).toBe(201);
}

describe('stowage kubeconfig', () => {
  test('writes a kubeconfig with the rights of a service account', async () => {
    const { stowage, admin, folder } = started();
    await made(admin, '/api/v1/namespaces', { metadata: { name: 'shop' } });
    await made(admin, '/api/v1/namespaces/shop/serviceaccounts', { metadata: { name: 'robot' } });
    await made(admin, '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings', {
      metadata: { name: 'robot' },
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'robot' }],
    });
    const file = join(folder, 'robot.kubeconfig');
    const { status, stdout, stderr } = await callStowage(
      ...[
        'kubeconfig',
        'shop/robot',
        '--to',
        file,
        '--duration',
        '1h30m',
        '--kubeconfig',
        stowage.kubeconfig,
      ],
    );
    expect([status, stdout, stderr]).toEqual([0, '', '']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const robot = new ApiClient(accessIn(readFileSync(file, 'utf8')));
    expect((await robot.call('GET', '/api/v1/namespaces/shop/pods')).status).toBe(200);
    expect((await robot.call('GET', '/api/v1/namespaces/shop/secrets')).status).toBe(403);
    expect((await robot.call('GET', '/api/v1/namespaces/default/pods')).status).toBe(403);
  });

  test('prints the kubeconfig, and its token is valid after a restart', async () => {
    const data = join(temporaryFolder(), 'data');
    const stowage = await StowageProcess.up(data, '--controllers', 'none');
    const admin = new ApiClient(stowage.access);
    await made(admin, '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
    const { stdout } = await callStowage('kubeconfig', 'robot', '--kubeconfig', stowage.kubeconfig);
    expect(stdout).toContain('current-context: default/robot\n');
    await stowage.stop();
    const again = await StowageProcess.up(data, '--controllers', 'none');
    const robot = new ApiClient({ ...accessIn(stdout), url: again.access.url });
    expect((await robot.call('GET', '/api')).status).toBe(200);
  });

  test("omits the caller's user and password of the server URL, and says so", async () => {
    const { stowage, admin, folder } = started();
    await made(admin, '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
    const own = join(folder, 'own.kubeconfig');
    const text = readFileSync(stowage.kubeconfig, 'utf8').replace('https://', 'https://bob:hidden@');
    writeFileSync(own, text, { mode: 0o600 });
    const { status, stdout, stderr } = await callStowage('kubeconfig', 'robot', '--kubeconfig', own);
    expect([status, stderr]).toEqual([
      0,
      'user and password of the proxy or server URL are left out: they are yours, not those of the account\n',
    ]);
    expect(accessIn(stdout).url).toBe(stowage.access.url);
    expect(stdout).not.toMatch(/bob|hidden/);
  });

  test('never overwrites the kubeconfig that it reads, by any path', async () => {
    const { stowage, folder } = started();
    const before = readFileSync(stowage.kubeconfig, 'utf8');
    symlinkSync(stowage.kubeconfig, join(folder, 'alias'));
    for (const to of [stowage.kubeconfig, join(folder, 'alias')]) {
      const args = ['default', '--to', to, '--kubeconfig', stowage.kubeconfig];
      expect(await callInProcess('kubeconfig', ...args)).toMatchObject({
        status: 2,
        stderr: expect.stringMatching(
          /^stowage: --to: .* is the kubeconfig that this command reads, .*; choose another file/,
        ),
      });
    }
    expect(readFileSync(stowage.kubeconfig, 'utf8')).toBe(before);
  });

  test('reports errors with a remedy', async () => {
    const { stowage } = started();
    const call = (...args: readonly string[]) =>
      callInProcess('kubeconfig', ...args, '--kubeconfig', stowage.kubeconfig);
    const absent = await call('absent', '-n', 'shop');
    expect(absent.status).toBe(1);
    expect(absent.stderr).toMatch(
      /^stowage: there is no service account "absent" in the namespace "shop" of https:\S+; make it with kubectl create serviceaccount absent -n shop, or/,
    );
    for (const [args, text] of [
      [['a/b/c'], '"a/b/c" is not the name of a service account; write NAME or NAMESPACE/NAME'],
      [['a/b', '-n', 'c'], '"a/b" has another namespace than --namespace c; give only one'],
      [['a', '--duration', 'long'], '--duration: "long" must be a duration, such as 24h, 90m or 1d12h'],
      [['a', '--duration', '9m59s'], '--duration: 9m59s is too short; the minimum is 10m'],
    ] as const) {
      const { status, stderr } = await call(...args);
      expect([status, stderr]).toEqual([2, `stowage: ${text}; see stowage kubeconfig --help\n`]);
    }
  });
});

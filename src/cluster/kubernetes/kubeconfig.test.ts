import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inClusterSettings } from './in-cluster.ts';
import { kubeconfigPaths, loadKubeconfig } from './kubeconfig.ts';
import { authorityCert } from './testing/certificates.ts';
import { base64 } from './testing/fake-api-server.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stowage-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** A kubeconfig with one entry of each, given in YAML. */
function config(cluster: string, user = '{}', current = 'main'): string {
  return `
apiVersion: v1
kind: Config
current-context: ${current}
clusters: [{ name: c, cluster: ${cluster} }]
users: [{ name: u, user: ${user} }]
contexts:
- name: main
  context: { cluster: c, user: u, namespace: team-a }
`;
}

describe('a kubeconfig', () => {
  test('gives the server and the user', async () => {
    const path = write(
      'config',
      config(
        `{ server: 'https://h:6443/base', tls-server-name: name, proxy-url: 'http://p:1', certificate-authority-data: ${base64(authorityCert)} }`,
        '{ token: t, username: ada, password: p, as: bob, as-uid: "7", as-groups: [g], as-user-extra: { scope: [x, z] } }',
      ),
    );
    expect(await loadKubeconfig({ paths: [path] })).toEqual({
      source: `context "main" of ${path}`,
      server: 'https://h:6443/base',
      tlsServerName: 'name',
      proxyUrl: 'http://p:1',
      certificateAuthority: { kind: 'data', bytes: Buffer.from(authorityCert) },
      namespace: 'team-a',
      user: {
        token: 't',
        username: 'ada',
        password: 'p',
        impersonate: { user: 'bob', uid: '7', groups: ['g'], extra: { scope: ['x', 'z'] } },
      },
    });
  });

  test('resolves files relative to its own folder, not to the working directory', async () => {
    const path = write(
      'sub/config',
      config(
        '{ server: "https://h", certificate-authority: ../ca.crt }',
        '{ client-certificate: ./ada.crt, client-key: /abs/ada.key, tokenFile: token, exec: { apiVersion: v, command: ./login } }',
      ),
    );
    const settings = await loadKubeconfig({ paths: [path] });
    expect(settings?.certificateAuthority).toEqual({ kind: 'file', path: join(folder, 'ca.crt') });
    expect(settings?.user).toMatchObject({
      clientCertificate: { kind: 'file', path: join(folder, 'sub/ada.crt') },
      clientKey: { kind: 'file', path: '/abs/ada.key' },
      tokenFile: join(folder, 'sub/token'),
      exec: { command: join(folder, 'sub/login') },
    });
  });

  test('may be several files: the first file with a setting wins, and missing files are skipped', async () => {
    const first = write('first', 'users: [{ name: u, user: { token: first } }]\ncurrent-context: main');
    const second = write(
      'second',
      config('{ server: "https://second" }', '{ token: second, username: x }', 'other'),
    );
    const third = write('third', config('{ server: "https://third" }'));
    const paths = [join(folder, 'missing'), first, second, third];
    const settings = await loadKubeconfig({ paths });
    expect(settings).toMatchObject({ server: 'https://second', user: { token: 'first' } });
    expect(settings?.user.username).toBeUndefined();
    expect(await loadKubeconfig({ paths: [join(folder, 'missing')] })).toBeUndefined();
  });

  test('gives plugins their settings', async () => {
    const path = write(
      'config',
      config(
        '{ server: "https://h", extensions: [{ name: client.authentication.k8s.io/exec, extension: { audience: a } }] }',
        '{ exec: { apiVersion: v1, command: login, args: [a, 1], env: [{ name: A, value: b }], provideClusterInfo: true, installHint: "get it\\u001b[31m here" } }',
      ),
    );
    expect((await loadKubeconfig({ paths: [path] }))?.user.exec).toEqual({
      apiVersion: 'v1',
      command: 'login',
      args: ['a', '1'],
      env: { A: 'b' },
      interactiveMode: 'IfAvailable',
      installHint: 'get it here',
      clusterInfo: { server: 'https://h', config: { audience: 'a' } },
    });
  });

  test.each([
    ['text that is not YAML', 'a: [', /cannot be read as a kubeconfig/],
    ['a list', '- a', /is not a kubeconfig/],
    ['no current context', 'clusters: []', /current-context is not set; set it, or name a context/],
    ['a missing context', 'current-context: x', /there is no context named "x"; there are no contexts/],
    ['a cluster without a server', config('{}'), /cluster "c" has no server/],
    [
      'data that is not a certificate',
      config('{ server: s, certificate-authority-data: AAAA }'),
      /not a PEM text in base64/,
    ],
    [
      'contradicting trust settings',
      config('{ server: s, certificate-authority: x, insecure-skip-tls-verify: true }'),
      /; remove one$/,
    ],
    [
      'an auth-provider',
      config('{ server: s }', '{ auth-provider: { name: gcp } }'),
      /auth-provider \(gcp\), which Kubernetes has removed; use an exec plugin/,
    ],
    ['an exec without a command', config('{ server: s }', '{ exec: {} }'), /needs apiVersion and command/],
  ])('with %s says what to do', async (_, content, message) => {
    await expect(loadKubeconfig({ paths: [write('config', content)] })).rejects.toThrow(message);
  });

  test('that lacks a context lists the existing ones', async () => {
    const path = write('config', config('{ server: s }'));
    await expect(loadKubeconfig({ paths: [path], context: 'prod' })).rejects.toThrow(
      /there is no context named "prod"; there are main$/,
    );
  });
});

test('the environment gives the paths of kubeconfigs', () => {
  expect(kubeconfigPaths({ KUBECONFIG: '/a::/b:/a', HOME: '/home/ada' })).toEqual(['/a', '/b']);
  expect(kubeconfigPaths({ HOME: '/home/ada' })).toEqual(['/home/ada/.kube/config']);
});

describe('in a pod', () => {
  test('the service account provides all settings', async () => {
    write('namespace', 'team-a\n');
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    expect(await inClusterSettings(env, folder)).toEqual({
      source: `the service account in ${folder}`,
      server: 'https://[fd00::1]:443',
      certificateAuthority: { kind: 'file', path: join(folder, 'ca.crt') },
      namespace: 'team-a',
      user: { tokenFile: join(folder, 'token') },
    });
  });

  test('is detected by the environment of the kubelet', async () => {
    expect(await inClusterSettings({}, folder)).toBeUndefined();
  });
});

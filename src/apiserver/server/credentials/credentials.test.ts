import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { bearerToken, makeAdminToken, tokenVerifier } from '../../access/bearer-token.ts';
import { loadOrCreateCredentials } from './credentials.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stowage-credentials-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe('credentials', () => {
  test('are the same after a restart', async () => {
    const first = await loadOrCreateCredentials(folder, { nowMs });
    expect(await loadOrCreateCredentials(folder, { nowMs: nowMs + 1000 })).toEqual(first);
  });

  test('are recreated when a host is added, but the token stays', async () => {
    const first = await loadOrCreateCredentials(folder, { nowMs });
    const second = await loadOrCreateCredentials(folder, { nowMs, extraHosts: ['node-1.example'] });
    expect(second.certificate).not.toBe(first.certificate);
    expect(second.token).toBe(first.token);
    expect(second.tokenKey).toBe(first.tokenKey);
  });

  test('are recreated if the files are truncated', async () => {
    const first = await loadOrCreateCredentials(folder, { nowMs });
    await writeFile(join(folder, 'tls.crt'), first.certificate.slice(0, 100));
    await writeFile(join(folder, 'token'), 'short');
    await writeFile(join(folder, 'service-accounts.key'), first.tokenKey.slice(0, 50));
    const second = await loadOrCreateCredentials(folder, { nowMs });
    expect(second.certificate).not.toBe(first.certificate);
    expect(second.token).toMatch(/^[\w-]{43}$/);
    expect(second.tokenKey).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(second.tokenKey).not.toBe(first.tokenKey);
  });

  test('are readable by their owner only, without leftover files', async () => {
    await loadOrCreateCredentials(folder, { nowMs });
    const names = await readdir(folder);
    expect(names.sort()).toEqual(['service-accounts.key', 'tls.crt', 'tls.key', 'token']);
    for (const name of names) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });
});

describe('a kubeconfig', () => {
  test('points to the server and replaces an older file', async () => {
    const path = join(folder, 'sub', 'kubeconfig');
    const facts = { server: 'https://127.0.0.1:6443', certificate: 'PEM', token: 'abc' };
    await writeKubeconfig(path, { ...facts, token: 'old' });
    await writeKubeconfig(path, facts);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(parse(await readFile(path, 'utf8'))).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'stowage',
          cluster: {
            server: facts.server,
            'certificate-authority-data': Buffer.from('PEM').toString('base64'),
          },
        },
      ],
      users: [{ name: 'stowage', user: { token: 'abc' } }],
      contexts: [{ name: 'stowage', context: { cluster: 'stowage', user: 'stowage' } }],
      'current-context': 'stowage',
    });
  });
});

describe('a token', () => {
  const token = makeAdminToken();
  const check = tokenVerifier(token);
  test.each([
    [`Bearer ${token}`, 'right'],
    [`bearer  ${token}`, 'right'],
    [`Bearer ${token}x`, 'wrong'],
    [`Bearer ${token.slice(1)}`, 'wrong'],
    [`Basic ${token}`, 'missing'],
    ['Bearer', 'missing'],
    ['Bearer a b', 'missing'],
    ['', 'missing'],
    [undefined, 'missing'],
  ] as const)('in the header %j is %s', (header, expected) => {
    const given = bearerToken(header);
    expect(given === undefined ? 'missing' : check(given) ? 'right' : 'wrong').toBe(expected);
  });
});

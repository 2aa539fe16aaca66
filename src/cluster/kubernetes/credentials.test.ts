import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodes } from '../../kube/resources.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { credentialsOf } from './credentials.ts';
import { ada, authorityCert, bob, localhost, otherHost } from './testing/certificates.ts';
import {
  base64,
  type FakeApiHandler,
  FakeApiServer,
  listBody,
  respond,
  statusBody,
} from './testing/fake-api-server.ts';

let folder = '';
const servers: FakeApiServer[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stowage-'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  rmSync(folder, { recursive: true });
});

const trusted = { 'certificate-authority-data': base64(authorityCert) };
const fine: FakeApiHandler = (_, response) => respond(response, 200, listBody());

async function serveTls(handler: FakeApiHandler = fine, tls: object = localhost): Promise<FakeApiServer> {
  const server = await FakeApiServer.start(handler, { ca: authorityCert, ...tls });
  servers.push(server);
  return server;
}

/** A plugin that prints this, and records that it ran. */
function plugin(status: object, apiVersion = 'client.authentication.k8s.io/v1'): string {
  const path = join(folder, 'login');
  const credential = JSON.stringify({ apiVersion, kind: 'ExecCredential', status });
  writeFileSync(
    path,
    `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO $WHO $1" >> ${folder}/runs\ncat <<'END'\n${credential}\nEND\n`,
  );
  chmodSync(path, 0o755);
  return path;
}

function runs(): string[] {
  return readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n');
}

const exec = {
  apiVersion: 'client.authentication.k8s.io/v1',
  interactiveMode: 'IfAvailable',
  env: [{ name: 'WHO', value: 'me' }],
};
const env = { PATH: process.env.PATH };

describe('trust', () => {
  test('is accepted if the authority of the kubeconfig signed it', async () => {
    const server = await serveTls();
    const cluster = await server.connect({ cluster: trusted });
    expect((await cluster.resource(nodes).list()).items).toEqual([]);
  });

  test.each([
    ['a server with an untrusted certificate', {}, localhost],
    ['a server with the certificate of another', trusted, otherHost],
  ])('is refused for %s, once and clearly', async (_, cluster, tls) => {
    const server = await serveTls(fine, tls);
    const client = await server.connect({ cluster });
    await expect(client.resource(nodes).list()).rejects.toThrow(
      /certificate is not trusted: .*; check certificate-authority, tls-server-name/,
    );
    expect(server.received).toEqual([]);
  });

  test('may be accepted by another name, or unchecked', async () => {
    const server = await serveTls(fine, otherHost);
    const named = await server.connect({ cluster: { ...trusted, 'tls-server-name': 'other.example' } });
    await named.resource(nodes).list();
    const blind = await server.connect({ cluster: { 'insecure-skip-tls-verify': true } });
    await blind.resource(nodes).list();
    expect(server.received).toHaveLength(2);
  });
});

describe('a user', () => {
  test.each([
    [{ token: 't0' }, { authorization: 'Bearer t0' }],
    [{ username: 'ada', password: 'p:w' }, { authorization: `Basic ${base64('ada:p:w')}` }],
    [{ token: 't0', username: 'ada' }, { authorization: 'Bearer t0' }],
    [
      { as: 'bob', 'as-groups': ['g', 'h'] },
      { 'impersonate-user': 'bob', 'impersonate-group': 'g, h' },
    ],
  ])('%j sends %j', async (user, headers) => {
    const server = await serveTls();
    const cluster = await server.connect({ cluster: trusted, user });
    await cluster.resource(nodes).list();
    expect(server.received[0]?.headers).toMatchObject(headers);
  });

  test('sends no credentials over an unencrypted connection', async () => {
    const server = await FakeApiServer.start(fine);
    servers.push(server);
    const cluster = await server.connect({ user: { token: 'secret' } });
    await cluster.resource(nodes).list();
    expect(server.received[0]?.headers.authorization).toBeUndefined();
  });

  test('may present a certificate, and a new one when the file changes', async () => {
    const names: string[] = [];
    const server = await serveTls(
      ({ socket }, response) => {
        const { CN } = (socket as TLSSocket).getPeerCertificate().subject ?? {};
        names.push(String(CN));
        if (names.length === 2) respond(response, 401, statusBody(401, 'Unauthorized'));
        else respond(response, 200, listBody());
      },
      { ...localhost, requestCert: true },
    );
    for (const [suffix, text] of Object.entries(ada)) writeFileSync(join(folder, `me.${suffix}`), text);
    const user = { 'client-certificate': join(folder, 'me.cert'), 'client-key': join(folder, 'me.key') };
    const cluster = await server.connect({ cluster: trusted, user });
    await cluster.resource(nodes).list();
    for (const [suffix, text] of Object.entries(bob)) writeFileSync(join(folder, `me.${suffix}`), text);
    await cluster.resource(nodes).list();
    expect(names).toEqual(['ada', 'ada', 'bob']);
  });

  test('acts for another user without its own certificate, on connections that are kept', async () => {
    const seen: (readonly [name: string, token: string])[] = [];
    const server = await serveTls(
      ({ socket, headers }, response) => {
        const { CN } = (socket as TLSSocket).getPeerCertificate().subject ?? {};
        seen.push([String(CN), String(headers.authorization)]);
        respond(response, 200, listBody());
      },
      { ...localhost, requestCert: true, rejectUnauthorized: false },
    );
    for (const [suffix, text] of Object.entries(ada)) writeFileSync(join(folder, `me.${suffix}`), text);
    const user = { 'client-certificate': join(folder, 'me.cert'), 'client-key': join(folder, 'me.key') };
    const cluster = await server.connect({ cluster: trusted, user });
    const other = cluster.as('of-a-viewer');
    for (let at = 0; at < 6; at += 1) {
      await cluster.resource(nodes).list();
      await other.resource(nodes).list();
    }
    expect(new Set(seen.map(String))).toEqual(new Set(['ada,undefined', 'undefined,Bearer of-a-viewer']));
    // A request may start before its predecessor's connection counts as free again.
    expect(new Set(server.received.map(({ socket }) => socket)).size).toBeLessThan(8);
  });

  test('with a token file uses a new token as soon as the old one is refused', async () => {
    const path = join(folder, 'token');
    const server = await serveTls(({ headers }, response) => {
      if (headers.authorization === 'Bearer new') respond(response, 200, listBody());
      else respond(response, 401, statusBody(401, 'Unauthorized'));
    });
    const cluster = await server.connect({ cluster: trusted, user: { tokenFile: path } });
    await expect(cluster.resource(nodes).list()).rejects.toThrow(/the token file .* cannot be read/);
    writeFileSync(path, 'old\n');
    await expect(cluster.resource(nodes).list()).rejects.toMatchObject({ reason: 'Unauthorized' });
    expect(server.received).toHaveLength(1);
    writeFileSync(path, 'new\n');
    await cluster.resource(nodes).list();
    expect(server.received.slice(1).map(({ headers }) => headers.authorization)).toEqual([
      'Bearer old',
      'Bearer new',
    ]);
  });
});

describe('a token file', () => {
  test('is read again once a minute, and its last token is kept while it cannot be read', async () => {
    const clock = new VirtualClock();
    const path = join(folder, 'token');
    writeFileSync(path, 'one');
    const credentials = credentialsOf({ tokenFile: path }, { env, clock });
    const token = async () => (await credentials.current()).headers.authorization;
    expect(await token()).toBe('Bearer one');
    writeFileSync(path, 'two');
    await clock.advance(59_000);
    expect(await token()).toBe('Bearer one');
    await clock.advance(1_000);
    expect(await token()).toBe('Bearer two');
    rmSync(path);
    await clock.advance(60_000);
    expect(await token()).toBe('Bearer two');
  });
});

describe('an exec plugin', () => {
  test('runs once for many requests, and receives what it needs', async () => {
    const server = await serveTls();
    const command = plugin({ token: 'from-plugin' });
    const user = { exec: { ...exec, command, args: ['get'], provideClusterInfo: true } };
    const cluster = await server.connect({ cluster: trusted, user }, { env });
    await Promise.all(Array.from({ length: 5 }, () => cluster.resource(nodes).list()));
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual(
      Array(5).fill('Bearer from-plugin'),
    );
    expect(runs()).toHaveLength(1);
    expect(runs()[0]).toMatch(
      /^\{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io\/v1","spec":\{"interactive":false,"cluster":\{"server":"https.* me get$/,
    );
  });

  test('runs again when its credential has expired, or is refused', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    const command = plugin({ token: 't1', expirationTimestamp: '2026-01-01T00:10:00Z' });
    const settings = { ...exec, env: {}, args: [], command, interactiveMode: 'Never' as const };
    const credentials = credentialsOf({ exec: settings }, { env, clock });
    const first = await credentials.current();
    await clock.advance(599_000);
    expect(await credentials.current()).toBe(first);
    plugin({ token: 't2', expirationTimestamp: '2026-01-01T00:20:00Z' });
    await clock.advance(1_000);
    const second = await credentials.current();
    expect(second.headers.authorization).toBe('Bearer t2');
    expect(await credentials.refused(first)).toBe(true);
    expect(await credentials.refused(second)).toBe(false);
    plugin({ token: 't3' });
    expect(await credentials.refused(second)).toBe(true);
    expect((await credentials.current()).headers.authorization).toBe('Bearer t3');
    expect(runs()).toHaveLength(4);
  });

  test('may return a certificate', async () => {
    const server = await serveTls(
      ({ socket }, response) =>
        respond(response, 200, listBody([(socket as TLSSocket).getPeerCertificate().subject.CN as string])),
      { ...localhost, requestCert: true },
    );
    const command = plugin({ clientCertificateData: ada.cert, clientKeyData: ada.key });
    const cluster = await server.connect({ cluster: trusted, user: { exec: { ...exec, command } } }, { env });
    expect((await cluster.resource(nodes).list()).items[0]?.metadata?.name).toBe('ada');
  });

  test.each([
    [
      'does not exist',
      { command: 'no-such-plugin', installHint: 'get it at example.com' },
      /no-such-plugin was not found; .*\n\nget it at example.com$/,
    ],
    ['fails', { command: 'sh', args: ['-c', 'echo no luck >&2; exit 3'] }, /sh failed with 3: no luck$/],
    ['prints nonsense', { command: 'echo', args: ['hello'] }, /echo did not print an ExecCredential$/],
    [
      'prints another version',
      { command: 'self', apiVersion: 'client.authentication.k8s.io/v1beta1' },
      /should use client.authentication.k8s.io\/v1beta1, but printed client.authentication.k8s.io\/v1$/,
    ],
    [
      'uses an unknown version',
      { command: 'echo', apiVersion: 'client.authentication.k8s.io/v1alpha1' },
      /v1alpha1, but stowage supports client.authentication.k8s.io\/v1 and/,
    ],
    ['needs to prompt the user', { command: 'echo', interactiveMode: 'Always' }, /needs to prompt the user/],
  ])('that %s is a clear error of every call', async (_, changes, message) => {
    const server = await serveTls();
    const command = changes.command === 'self' ? plugin({ token: 't' }) : changes.command;
    const user = { exec: { ...exec, ...changes, command } };
    const cluster = await server.connect({ cluster: trusted, user }, { env });
    await expect(cluster.resource(nodes).list()).rejects.toThrow(message);
    await expect(cluster.resource(nodes).list()).rejects.toMatchObject({ reason: 'Unauthorized' });
    expect(server.received).toEqual([]);
  });
});

test('requests go through the proxy of the kubeconfig', async () => {
  const server = await serveTls();
  const targets: string[] = [];
  const proxy = createServer((socket) => {
    socket.once('data', (head) => {
      const [, target = ''] = /^CONNECT (\S+)/.exec(head.toString()) ?? [];
      targets.push(target);
      const [host, port] = target.split(':');
      const onward = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      for (const end of [socket, onward]) end.on('error', () => {});
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  const cluster = await server.connect({
    cluster: { ...trusted, 'proxy-url': `http://127.0.0.1:${port}` },
    user: { token: 't0' },
  });
  await cluster.resource(nodes).list();
  expect(targets).toEqual([new URL(server.url).host]);
  expect(server.received[0]?.headers.authorization).toBe('Bearer t0');
  await cluster.close();
  proxy.close();
});

test.each([
  [
    'foo://user:secret@p:1',
    /^proxy-url in context .* uses foo:\/\/; it must have the form http:\/\/HOST:PORT$/,
  ],
  ['p:x:y', /^proxy-url in context .* uses p:\/\/; it must/],
  ['://', /^proxy-url in context .* is not a URL; it must/],
])('an invalid proxy %s is refused at once', async (proxy, message) => {
  const server = await serveTls();
  const connecting = server.connect({ cluster: { ...trusted, 'proxy-url': proxy }, user: { token: 't0' } });
  await expect(connecting).rejects.toThrow(message);
});

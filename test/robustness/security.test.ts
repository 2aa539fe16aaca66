import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AttackedServer, attackedServer } from './testing/attacked-server.ts';
import { expectHealthy } from './testing/expect-healthy.ts';
import { answersOf, everythingFrom } from './testing/raw-responses.ts';
import { responseProblem } from './testing/response-problem.ts';

const secrets = '/api/v1/namespaces/default/secrets';
const hidden = 'the-hidden-value';
const hiddenBase64 = Buffer.from(hidden).toString('base64');

let attacked: AttackedServer;
beforeAll(async () => {
  attacked = await attackedServer();
  const body = { metadata: { name: 'kept' }, stringData: { password: hidden } };
  const sealed = { ...body, metadata: { name: 'sealed' }, immutable: true };
  for (const each of [body, sealed])
    expect((await attacked.call('POST', secrets, { body: each })).status).toBe(201);
});
afterAll(async () => await attacked.close());

const guarded: readonly (readonly [method: string, path: string])[] = [
  ['GET', `${secrets}/kept`],
  ['GET', secrets],
  ['GET', `${secrets}?watch=1`],
  ['GET', '/api/v1/watch/secrets'],
  ['GET', `${secrets}/kept?watch=1`],
  ['HEAD', `${secrets}/kept`],
  ['OPTIONS', secrets],
  ['POST', secrets],
  ['PUT', `${secrets}/kept`],
  ['PATCH', `${secrets}/kept`],
  ['DELETE', `${secrets}/kept`],
  ['DELETE', secrets],
  ['POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews'],
  ['POST', '/apis/authentication.k8s.io/v1/tokenreviews'],
  ['GET', '/'],
  ['GET', '/api'],
  ['GET', '/api/v1'],
  ['GET', '/apis'],
  ['GET', '/apis/apps/v1'],
  ['GET', '/openapi/v2'],
  ['GET', '/openapi/v3'],
  ['GET', '/openapi/v3/api/v1'],
  ['GET', '/metrics'],
  ['GET', '/logs'],
  ['GET', '/nowhere'],
  ['GET', '/healthzz'],
  ['GET', '/version/..'],
  ['GET', '/healthz/../api/v1/namespaces/default/secrets'],
  ['GET', '/%68ealthz/../api/v1/secrets'],
  ['GET', '//api/v1/secrets'],
  ['GET', '/%'],
  ['GET', `/api/v1/namespaces/default/%2e%2e/${'x'.repeat(5_000)}`],
];

describe('without a valid token', () => {
  const { token } = { token: () => attacked.access.token };
  const attempts: readonly (readonly [
    string,
    () => { authorization?: string | null; query?: string; headers?: Record<string, string> },
  ])[] = [
    ['none', () => ({ authorization: null })],
    ['a wrong one', () => ({ authorization: 'Bearer wrong' })],
    ['an empty one', () => ({ authorization: 'Bearer ' })],
    ['a longer one', () => ({ authorization: `Bearer ${token()}x` })],
    ['a shorter one', () => ({ authorization: `Bearer ${token().slice(0, -1)}` })],
    ['one of another case', () => ({ authorization: `Bearer ${token().toUpperCase()}` })],
    ['two of them', () => ({ authorization: `Bearer wrong, Bearer ${token()}` })],
    ['the token without its scheme', () => ({ authorization: token() })],
    [
      'the token as a password',
      () => ({ authorization: `Basic ${Buffer.from(`admin:${token()}`).toString('base64')}` }),
    ],
    [
      'the token in the query',
      () => ({ authorization: null, query: `access_token=${token()}&token=${token()}` }),
    ],
    ['the token in a cookie', () => ({ authorization: null, headers: { cookie: `token=${token()}` } })],
    [
      'the token in a header of another name',
      () => ({
        authorization: null,
        headers: { 'x-authorization': `Bearer ${token()}`, 'proxy-authorization': `Bearer ${token()}` },
      }),
    ],
    [
      'an impersonation header',
      () => ({
        authorization: null,
        headers: {
          'x-remote-user': 'admin',
          'x-remote-group': 'system:masters',
          'impersonate-user': 'admin',
        },
      }),
    ],
  ];

  test.each(attempts)(
    '%s: everything except health and version is rejected with 401',
    async (_name, attempt) => {
      for (const [method, path] of guarded) {
        const { authorization, query = '', headers = {} } = attempt();
        const target = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
        const reply = await attacked.call(method, target, {
          headers,
          ...(authorization === undefined ? {} : { authorization }),
        });
        expect([method, path, reply.status]).toEqual([method, path, 401]);
        if (method === 'HEAD') continue;
        expect(responseProblem(reply)).toBeUndefined();
        expect(JSON.parse(reply.text)).toEqual({
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'Unauthorized',
          reason: 'Unauthorized',
          code: 401,
        });
      }
    },
  );

  test.each(['/healthz', '/livez', '/readyz', '/readyz/ping', '/healthz?verbose', '/version'])(
    '%s is answered',
    async (path) => {
      const reply = await attacked.call('GET', path, { authorization: null });
      expect(reply.status).toBe(200);
      expect(reply.text).not.toContain(attacked.access.token);
    },
  );

  test('nothing was changed, and the server does not wait for a large body', async () => {
    const reply = await attacked.call('POST', secrets, {
      authorization: null,
      body: 'x'.repeat(4 * 2 ** 20),
    });
    expect(reply.status).toBe(401);
    const kept = JSON.parse((await attacked.call('GET', `${secrets}/kept`)).text);
    expect(kept.data).toEqual({ password: hiddenBase64 });
    await expectHealthy(attacked);
  });
});

describe('host names that a client makes up', () => {
  test.each([
    'elsewhere.example',
    'elsewhere.example:1',
    '127.0.0.1@elsewhere.example',
    '[::1',
    '',
    'a'.repeat(3_000),
    '<script>',
  ])('%j appears in no response', async (host) => {
    for (const path of ['/api', '/apis', '/openapi/v3', '/version', '/nowhere', `${secrets}/none`]) {
      const { token } = attacked.access;
      const socket = await attacked.dial();
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-Host: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
      );
      const text = await everythingFrom(socket);
      expect(answersOf(text)).toHaveLength(1);
      if (host !== '') expect(text).not.toContain(host);
    }
  });

  test('have no effect in the address of a request', async () => {
    const { token } = attacked.access;
    const socket = await attacked.dial();
    socket.write(
      `GET https://elsewhere.example${secrets} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
    );
    const [answer] = answersOf(await everythingFrom(socket));
    expect([400, 404]).toContain(answer?.status);
  });
});

describe('the content of a secret', () => {
  const json = 'application/json-patch+json';
  const merge = 'application/merge-patch+json';
  const refusedWrites: readonly (readonly [string, string, string, object])[] = [
    ['a patch of what is sealed', 'PATCH sealed', merge, { data: { password: 'eA==' } }],
    ['a seal that is taken off', 'PATCH sealed', merge, { immutable: false }],
    ['another type', 'PATCH kept', merge, { type: 'kubernetes.io/tls' }],
    ['a test that fails', 'PATCH kept', json, [{ op: 'test', path: '/data/password', value: 'x' }]],
    ['a path through it', 'PATCH kept', json, [{ op: 'add', path: '/data/password/x', value: 'x' }]],
    ['an old version', 'PATCH kept', merge, { metadata: { resourceVersion: '1' } }],
    ['the same name again', 'POST', 'application/json', { metadata: { name: 'kept' } }],
    ['one without a version', 'PUT sealed', 'application/json', { metadata: { name: 'sealed' }, data: {} }],
  ];

  test.each(refusedWrites)('is not in the rejection of %s', async (_name, request, contentType, body) => {
    const [method = '', name] = request.split(' ');
    const path = name === undefined ? secrets : `${secrets}/${name}`;
    const reply = await attacked.call(method, path, { body, headers: { 'content-type': contentType } });
    expect([reply.status >= 400, responseProblem(reply)]).toEqual([true, undefined]);
    expect(reply.text).not.toContain(hidden);
    expect(reply.text).not.toContain(hiddenBase64);
  });

  test('is not in its table', async () => {
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const { text } = await attacked.call('GET', secrets, { headers });
    expect(text).toContain('kept');
    expect(text).not.toContain(hiddenBase64);
  });
});

describe('files', () => {
  test.each(['a new folder', 'a folder with mode 755'])(
    'in %s are accessible only to their owner',
    async (where) => {
      const outer = await mkdtemp(join(tmpdir(), 'files-'));
      const folder = join(outer, 'data');
      if (where.includes('755')) {
        await mkdir(folder);
        await chmod(folder, 0o755);
      }
      const server = await attackedServer(folder);
      const body = { metadata: { name: 'x' }, stringData: { a: hidden } };
      expect((await server.call('POST', secrets, { body })).status).toBe(201);
      const kubeconfig = join(outer, 'kubeconfig');
      await writeFile(kubeconfig, '', { mode: 0o644 });
      await server.server.writeKubeconfig(kubeconfig);
      const open = await openToOthers(outer);
      await server.close();
      const openAfter = await openToOthers(outer);
      expect([open, openAfter]).toEqual([
        expect.toSatisfy(isOnlyTheFolder),
        expect.toSatisfy(isOnlyTheFolder),
      ]);
      expect(server.bugs).toEqual([]);
      await rm(outer, { recursive: true });

      /** The owner of an existing folder chose its mode, which may let others list it. */
      function isOnlyTheFolder(found: readonly string[]): boolean {
        return found.every((path) => path === folder && where.includes('755'));
      }
    },
  );
});

/** All paths below the folder that users other than the owner can access. */
async function openToOthers(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  const paths = names.map((name) => join(folder, name));
  const modes = await Promise.all(paths.map(async (path) => (await stat(path)).mode));
  return paths.filter((_, index) => ((modes[index] ?? 0) & 0o077) !== 0);
}

import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleProgram, startConsole } from './stowage-program.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function call(url: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    // The certificate is the server's own; whether it is trusted is not what is tested here.
    const sent = request(url, { method, headers, rejectUnauthorized: false }, (response) => {
      let text = '';
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('who may see the console of up', () => {
  let program: ConsoleProgram;
  let page: string;
  let token: string;

  beforeAll(async () => {
    program = await startConsole('up', '--port', '0', '--data', '{folder}/data', '--controllers', 'none');
    page = `${program.server}/console/`;
    token = new URL(program.consoleUrl).searchParams.get('token') ?? '';
  });

  afterAll(async () => {
    await program?.[Symbol.asyncDispose]();
  });

  const cookieFor = (port: number | string) => `__Secure-stowage-console-${port}=${token}`;
  const cookie = () => cookieFor(program.port);

  test('the token moves into a cookie that scripts cannot read, and out of the address', async () => {
    const { status, headers } = await call(program.consoleUrl);
    expect(status).toBe(303);
    expect(headers.location).toBe('/console/');
    expect(headers['set-cookie']).toEqual([`${cookie()}; Path=/console/; HttpOnly; Secure; SameSite=Strict`]);
    const opened = await call(page, { headers: { Cookie: cookie() } });
    expect(opened.status).toBe(200);
    expect(opened.headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'self';/);
    expect(opened.headers['content-security-policy']).not.toMatch(/unsafe|http:|\*/);
    expect(opened.body).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
  });

  test('without a valid token there is a page to sign in, and no data', async () => {
    const none = await call(page);
    expect([none.status, none.body.includes('Sign in')]).toEqual([401, true]);
    for (const path of [
      'data/state',
      'data/events',
      'data/queue',
      'data/pod?id=a/b',
      'data/plan',
      'data/act',
    ])
      expect((await call(page + path)).status, path).toBe(401);
    expect((await call(`${page}?token=wrong`)).status).toBe(401);
    expect(
      (await call(`${page}data/state`, { headers: { Cookie: cookie().replace(token, 'wrong') } })).status,
    ).toBe(401);
  });

  test('a name that is not its own is refused, so that no other site reads it by its own name', async () => {
    for (const host of ['evil.example', 'evil.example:7443', '127.0.0.1.evil.example'])
      expect((await call(page, { headers: { Cookie: cookie(), Host: host } })).status, host).toBe(421);
    for (const host of ['localhost', 'localhost:1', '10.0.0.1:7443', '[::1]:7443']) {
      const [, port = '443'] = /:(\d+)$/.exec(host) ?? [];
      const headers = { Cookie: cookieFor(port), Host: host };
      expect((await call(page, { headers })).status, host).toBe(200);
    }
  });

  test('a POST from another site is refused; without --console-write nothing is carried out', async () => {
    const body = JSON.stringify({ kind: 'cordon', what: 'node', name: 'n1', isOn: true });
    const headers = { Cookie: cookieFor(1), Host: '127.0.0.1:1' };
    const act = async (origin?: string) =>
      await call(`${page}data/act`, {
        method: 'POST',
        headers: { ...headers, ...(origin !== undefined && { Origin: origin }) },
        body,
      });
    expect((await act()).status).toBe(403);
    expect((await act('https://evil.example')).body).toContain('must come from a page of the console itself');
    expect((await act('https://127.0.0.1:1')).body).toContain('--console-write');
  });

  test('the token of the console gives no right to the API', async () => {
    const answer = await call(`${program.server}/api/v1/nodes`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(401);
  });
});

test('--no-console serves none', async () => {
  const { StowageProcess } = await import('../up/stowage-process.ts');
  const { mkdtemp, rm } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  const folder = await mkdtemp(`${tmpdir()}/stowage-no-console-`);
  const stowage = new StowageProcess([
    'up',
    '--no-console',
    '--port',
    '0',
    '--data',
    `${folder}/data`,
    '--controllers',
    'none',
  ]);
  try {
    await stowage.answers();
    const address = /listening on (https:[^,]+),/;
    await expect.poll(() => stowage.stderr).toMatch(address);
    const [, server] = address.exec(stowage.stderr) ?? [];
    expect((await call(`${server}/console/`)).status).toBe(401);
    expect(stowage.stderr).not.toContain('the console is on');
  } finally {
    await stowage.kill();
    await rm(folder, { recursive: true, force: true });
  }
});

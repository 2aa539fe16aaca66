import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OpsServer } from './ops-server.ts';

async function started(address = '127.0.0.1:0') {
  let problem: string | undefined = 'pods have not been read';
  const readyChecks = { caches: () => problem };
  const server = await OpsServer.start({ address, readyChecks, metrics: () => 'a 1\n' });
  onTestFinished(() => server.close());
  const get = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${server.url}${path}`, init);
    return {
      status: response.status,
      text: await response.text(),
      type: response.headers.get('content-type'),
    };
  };
  return { server, get, becomeReady: () => (problem = undefined) };
}

describe('the pages', () => {
  test('say that it runs, and whether it works', async () => {
    const { get, becomeReady } = await started();
    expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok' });
    expect(await get('/livez')).toMatchObject({ status: 200, text: 'ok' });
    expect((await get('/readyz')).status).toBe(500);
    becomeReady();
    expect(await get('/readyz')).toMatchObject({ status: 200, text: 'ok' });
    expect((await get('/readyz?verbose')).text).toBe('[+]ping ok\n[+]caches ok\nreadyz check passed\n');
    expect((await get('/readyz/caches')).status).toBe(200);
  });

  test('show the metrics as Prometheus reads them', async () => {
    const { get } = await started();
    const type = 'text/plain; version=0.0.4; charset=utf-8';
    expect(await get('/metrics')).toEqual({ status: 200, text: 'a 1\n', type });
    expect(await get('/metrics', { method: 'HEAD' })).toEqual({ status: 200, text: '', type });
  });

  test('are all there is, and only to be read', async () => {
    const { get } = await started();
    for (const path of ['/', '/metrics/a', '/api', '//metrics', '/healthz/nope'])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    expect((await get('/metrics', { method: 'POST' })).status).toBe(405);
  });
});

describe('the address', () => {
  test.each(['127.0.0.1:0', ':0', 'localhost:0'])('%s is one', async (address) => {
    const { get } = await started(address);
    expect((await get('/livez')).status).toBe(200);
  });

  test.each(['', '9808', 'a:b', '127.0.0.1', '1.2.3.4:65536', '::1:80', 'x:-1'])(
    '%j is none',
    async (address) => {
      await expect(started(address)).rejects.toThrow(
        `--http-address: "${address}" must be HOST:PORT, such as 127.0.0.1:9808`,
      );
    },
  );

  test('may be in use, and then says what to do', async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    await expect(started(address)).rejects.toThrow(`${address} is in use; stop what listens there`);
  });

  test('is free again once it is closed, despite open connections', async () => {
    const { server, get } = await started();
    await get('/livez');
    await server.close();
    await expect(get('/livez')).rejects.toThrow();
  });
});

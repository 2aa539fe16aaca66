import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { KubeObject } from '../../src/kube/api/meta.ts';

/** An API server that has only these lists, by the plural of their kind; all others are empty. Returns its address. */
export async function listServer(lists: Readonly<Record<string, readonly KubeObject[]>>): Promise<string> {
  const bodies = new Map(
    Object.entries(lists).map(([plural, items]) => [
      plural,
      JSON.stringify({ kind: 'List', metadata: { resourceVersion: '1' }, items }),
    ]),
  );
  const empty = JSON.stringify({ kind: 'List', metadata: { resourceVersion: '1' }, items: [] });
  const server = createServer(({ url = '' }, response) => {
    const path = url.replace(/\?.*/, '');
    response.writeHead(200, { 'content-type': 'application/json' });
    if (path === '/version') response.end(JSON.stringify({ gitVersion: 'v1.36.3', major: '1', minor: '36' }));
    else response.end(bodies.get(path.split('/').at(-1)!) ?? empty);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

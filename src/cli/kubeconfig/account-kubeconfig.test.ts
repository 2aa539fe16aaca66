import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { accountKubeconfig, hasUser } from './account-kubeconfig.ts';

const rest = { authority: undefined, namespace: 'shop', account: 'robot', token: 'abc' };

test("the caller's user and password in a URL are left out", () => {
  const connection = {
    server: 'https://bob:secret@host:6443/prefix',
    proxyUrl: 'http://bob:s%40cret@proxy.example:3128',
  };
  const { clusters } = parse(accountKubeconfig({ ...rest, connection }));
  expect(clusters[0].cluster).toEqual({
    server: 'https://host:6443/prefix',
    'proxy-url': 'http://proxy.example:3128',
  });
  expect(hasUser(connection)).toBe(true);
});

test('other URLs are copied', () => {
  const connection = { server: 'https://host:6443', proxyUrl: 'socks5://proxy.example/a@b' };
  const { clusters } = parse(accountKubeconfig({ ...rest, connection }));
  expect(clusters[0].cluster).toEqual({ server: connection.server, 'proxy-url': connection.proxyUrl });
  expect(hasUser(connection)).toBe(false);
});

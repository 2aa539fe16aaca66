import { expect, test } from 'vitest';
import { proxyFromEnvironment } from './proxy.ts';

const proxy = 'http://proxy:3128';

test.each([
  ['https://api.example.com', { HTTPS_PROXY: proxy }, proxy],
  ['https://api.example.com', { https_proxy: proxy }, proxy],
  ['https://api.example.com', { HTTPS_PROXY: 'proxy:3128' }, proxy],
  ['https://api.example.com', { HTTP_PROXY: proxy }, undefined],
  ['http://api.example.com', { HTTP_PROXY: proxy }, proxy],
  ['https://api.example.com', {}, undefined],
  ['https://localhost:6443', { HTTPS_PROXY: proxy }, undefined],
  ['https://127.0.0.5:6443', { HTTPS_PROXY: proxy }, undefined],
  ['https://[::1]:6443', { HTTPS_PROXY: proxy }, undefined],
])('the proxy for %s with %j is %s', (server, env, expected) => {
  expect(proxyFromEnvironment(new URL(server), env)).toBe(expected);
});

test.each([
  ['*', 'https://api.example.com', true],
  ['example.com', 'https://api.example.com', true],
  ['example.com', 'https://example.com', true],
  ['example.com', 'https://notexample.com', false],
  ['.example.com', 'https://example.com', false],
  ['.example.com', 'https://api.example.com', true],
  ['*.example.com', 'https://api.example.com', true],
  ['a, API.example.com ,b', 'https://api.example.com', true],
  ['api.example.com:6443', 'https://api.example.com:6443', true],
  ['api.example.com:6443', 'https://api.example.com', false],
  ['api.example.com:443', 'https://api.example.com', true],
  ['10.0.0.0/8', 'https://10.1.2.3', true],
  ['10.0.0.0/8', 'https://11.1.2.3', false],
  ['10.0.0.0/99', 'https://10.1.2.3', false],
  ['10.1.2.3', 'https://10.1.2.3', true],
  ['fd00::/8', 'https://[fd12::1]:6443', true],
  ['fd12::1', 'https://[fd12::1]:6443', true],
  ['', 'https://api.example.com', false],
])('NO_PROXY=%s and %s: not proxied is %s', (exceptions, server, isDirect) => {
  const chosen = proxyFromEnvironment(new URL(server), { HTTPS_PROXY: proxy, NO_PROXY: exceptions });
  expect(chosen === undefined).toBe(isDirect);
});

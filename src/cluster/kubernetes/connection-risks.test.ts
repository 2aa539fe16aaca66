import { expect, test } from 'vitest';
import { connectionRisks } from './connection-risks.ts';

const risks = (server: string, more: object = {}) =>
  connectionRisks({ source: 'context "prod" of f', server, user: { token: 'secret' }, ...more });

test('credentials without encryption are a risk, unless they stay on the machine', () => {
  expect(risks('http://api.example:8080')).toEqual([
    'context "prod" of f: the credentials are sent to http://api.example:8080 without encryption, and others on the network can read them; use https',
  ]);
  expect(risks('http://api.example', { user: { tokenFile: '/token' } })).toHaveLength(1);
  expect(risks('http://api.example', { user: { username: 'ada', password: 'x' } })).toHaveLength(1);
  expect(risks('http://api.example', { user: {} })).toEqual([]);
  for (const host of ['localhost', '127.0.0.1', '[::1]']) expect(risks(`http://${host}:8001`)).toEqual([]);
  expect(risks('https://api.example')).toEqual([]);
});

test('a certificate that is not verified is a risk', () => {
  expect(risks('https://api.example', { insecureSkipTlsVerify: true })).toEqual([
    'context "prod" of f: insecure-skip-tls-verify is set, so any server on the way to https://api.example can read and change everything; set certificate-authority instead',
  ]);
  expect(risks('https://api.example', { insecureSkipTlsVerify: false })).toEqual([]);
});

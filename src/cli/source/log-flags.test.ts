import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { logLevels } from '../../runtime/log.ts';
import { logForReading, logOf } from '../flags/log-flags.ts';
import { connect } from './connect.ts';

test.each([
  [{}, ['info', 'warn', 'error']],
  [{ logLevel: 'error' }, ['error']],
  [{ logLevel: 'error', verbose: true }, logLevels],
])('%j writes %j', (flags, expected) => {
  const log = logOf(flags);
  expect(logLevels.filter((level) => log.writes(level))).toEqual(expected);
});

test.each([
  [{ logLevel: 'loud' }, '--log-level: "loud" must be one of debug, info, warn, error'],
  [{ logFormat: 'xml' }, '--log-format: "xml" must be one of text, json'],
])('%j makes no sense', (flags, complaint) => {
  expect(() => logOf(flags)).toThrow(complaint);
});

function kubeconfig(cluster: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-connect-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 'secret' } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

test.each([
  ['plain HTTP', { server: 'http://api.example' }, 'without encryption'],
  [
    'no verification',
    { server: 'https://api.example', 'insecure-skip-tls-verify': true },
    'insecure-skip-tls-verify',
  ],
])('a command warns of %s on standard error, once', async (_, cluster, text) => {
  let printed = '';
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    printed += String(chunk);
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  const flags = { kubeconfig: kubeconfig(cluster) };
  for (let times = 0; times < 2; times += 1) {
    await using _connected = await connect(flags, { log: logForReading({}) });
  }
  expect(printed.split(text)).toHaveLength(2);
  expect(printed).not.toContain('secret');
});

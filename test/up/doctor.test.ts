import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { callInProcess } from './in-process.ts';
import { kubeconfigFor, unavailableServer } from './kubeconfigs.ts';
import { temporaryFolder } from './stowage-process.ts';

describe.each([[['doctor']], [['bundle', '--output-file', join('/nowhere', 'bundle.tar.gz')]]])(
  'stowage %s',
  (args) => {
    test('says what is wrong with a server that does not answer, and with a kubeconfig', async () => {
      const away = await callInProcess(...args, '--kubeconfig', kubeconfigFor(unavailableServer, 'x'));
      expect([away.status, away.stdout]).toEqual([1, '']);
      expect(away.stderr).toMatch(
        /^stowage: cannot read from https:\/\/127\.0\.0\.1:1 \(.*; check that the server runs/,
      );
      const absent = await callInProcess(...args, '--kubeconfig', join(temporaryFolder(), 'config'));
      expect(absent.stderr).toMatch(/^stowage: the kubeconfig .* does not exist; choose/);
    });
  },
);

test('stowage doctor and stowage bundle name the flag that is wrong', async () => {
  const severity = await callInProcess('doctor', '--fail-on', 'panic');
  expect([severity.status, severity.stderr]).toEqual([
    2,
    expect.stringContaining('--fail-on: "panic" must be one of error, warning, info, never'),
  ]);
  const file = await callInProcess('bundle');
  expect([file.status, file.stderr]).toEqual([
    2,
    expect.stringContaining('--output-file: say which file to write'),
  ]);
});

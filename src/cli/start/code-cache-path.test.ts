import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { codeCachePath } from './code-cache-path.ts';

const env = { XDG_CACHE_HOME: '/caches' };

test('each command has a file of its own, in a folder for the version of Node', () => {
  const path = codeCachePath('drain-plan', env) ?? '';
  expect(path.startsWith(`/caches/stowage/code/${process.version}-${process.arch}-`)).toBe(true);
  expect(basename(path)).toBe('drain-plan.bin');
});

test.each([undefined, '', '--version', '../../etc/passwd', 'a/b', 'x'.repeat(40)])(
  '%s is no command',
  (name) => {
    expect(basename(codeCachePath(name, env) ?? '')).toBe('other.bin');
  },
);

test.each([undefined, '', 'relative/folder'])(
  'with %s as XDG_CACHE_HOME it is below the home folder',
  (value) => {
    expect(codeCachePath('up', { XDG_CACHE_HOME: value })).toContain(
      join(homedir(), '.cache', 'stowage', 'code'),
    );
  },
);

test('there is none if the variable that turns off the cache of Node is set', () => {
  expect(codeCachePath('up', { ...env, NODE_DISABLE_COMPILE_CACHE: '1' })).toBeUndefined();
});

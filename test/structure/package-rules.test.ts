import { describe, expect, test } from 'vitest';
import {
  admits,
  checkDependenciesPage,
  checkEngines,
  checkInstallScripts,
  checkLockIsComplete,
  checkPins,
} from './package-rules.ts';

describe('packages', () => {
  test.each(['^1.2.3', '~1.2.3', '1.2', '1.x', '*', 'latest', '>=1.2.3', 'github:a/b'])(
    'must be pinned: %s',
    (version) => {
      const manifest = { dependencies: { good: '1.2.3' }, devDependencies: { bad: version } };
      const text = JSON.stringify(manifest, undefined, 2);
      expect(checkPins(manifest, text).map(({ line, wrong }) => [line, wrong])).toEqual([
        [6, `bad is "${version}"`],
      ]);
    },
  );

  test.each(['1.2.3', '1.2.3-rc.1', '0.0.0-dev.20250101+build.5'])('may be pinned so: %s', (version) => {
    expect(checkPins({ dependencies: { good: version } }, '')).toEqual([]);
  });

  test('that we ship with must be named on the page, whole names only', () => {
    const manifest = { dependencies: { yaml: '1.0.0', '@grpc/grpc-js': '1.0.0', lmdb: '3.0.0' } };
    const page = '- `@grpc/grpc-js` speaks gRPC\n- lmdb-store and yaml-js are not what we use, lmdb is';
    expect(checkDependenciesPage(manifest, page).map(({ wrong }) => wrong)).toEqual([
      'it does not name yaml',
    ]);
    expect(checkDependenciesPage(manifest, '')).toHaveLength(3);
  });

  test('must be in the lock, also those that another platform may want', () => {
    const packages = {
      'node_modules/tool': { optionalDependencies: { 'tool-linux': '1.0.0', 'tool-darwin': '1.0.0' } },
      'node_modules/tool-linux': {},
    };
    expect(checkLockIsComplete({ packages }).map(({ wrong }) => wrong)).toEqual([
      'it has no entry for tool-darwin, which node_modules/tool may want',
    ]);
  });

  test('must not run scripts when installed, by the lock file or by what is installed', () => {
    const packages = {
      '': { hasInstallScript: true },
      'node_modules/marked': { hasInstallScript: true },
      'node_modules/a/node_modules/@scope/unmarked': {},
      'node_modules/fsevents': { hasInstallScript: true },
      'node_modules/harmless': {},
    };
    const installed = (folder: string) =>
      folder.endsWith('unmarked')
        ? { scripts: { postinstall: 'node fetch.js' } }
        : { scripts: { test: 'vitest' } };
    expect(checkInstallScripts({ packages }, installed).map(({ wrong }) => wrong)).toEqual([
      'marked runs a script when it is installed',
      '@scope/unmarked runs a script when it is installed',
    ]);
  });

  test('must run on the oldest Node that we promise', () => {
    const packages = {
      'node_modules/modern': { engines: { node: '>=22' } },
      'node_modules/fine': { engines: { node: '^18 || >=20' } },
      'node_modules/silent': {},
      'node_modules/ancient': { engines: ['node >= 0.6'] },
    };
    expect(checkEngines({ packages }, [20, 19, 0]).map(({ wrong }) => wrong)).toEqual([
      'modern wants Node ">=22", which does not admit 20.19.0',
    ]);
  });

  test.each([
    '>=20.19',
    '>= 12.0.0',
    '>=0.10.0',
    '20 || >=22',
    '^20.19.0 || ^22.13.0 || >=23.5.0',
    '^10 || ^12 || ^13.7 || ^14 || >=15.0.1',
    '>=18 <21',
    '~20.19',
    '20.x',
    '<=20',
    '>20.18',
    '*',
    '',
  ])('a range that admits Node 20.19: "%s"', (range) => {
    expect(admits(range, [20, 19, 0])).toBe(true);
  });

  test.each([
    '>=20.19.1',
    '^22 || >=24',
    '20.18.x',
    '<20',
    '>20',
    '~20.18.1',
    '>=18 <20',
    '^18.0.0',
    'lts',
    '18 - 21',
  ])('a range that does not, or cannot be read: "%s"', (range) => {
    expect(admits(range, [20, 19, 0])).toBe(false);
  });
});

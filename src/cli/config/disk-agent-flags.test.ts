import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { diskAgentSettingsOf, storageNodeSettingsOf } from './disk-agent-flags.ts';
import { runSettings } from './run-settings.ts';

const given = { dataDirectory: '/data', controllers: ['disk-agent'], host: '127.0.0.1', isDemo: false };

function existingDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'stowage-disk-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

test('without the flag no agent runs', () => {
  expect(storageNodeSettingsOf({}, given)).toBeUndefined();
});

test('each node has its directory', () => {
  const [a, b] = [existingDirectory(), existingDirectory()];
  expect(storageNodeSettingsOf({ storageNode: [`n1=${a}`, `n2=${b}`] }, given)).toEqual({
    nodes: new Map([
      ['n1', { diskPath: a }],
      ['n2', { diskPath: b }],
    ]),
    listenHost: '127.0.0.1',
    port: 0,
  });
});

test('the demo has a disk in the data directory', () => {
  expect(storageNodeSettingsOf({}, { ...given, isDemo: true })?.nodes).toEqual(
    new Map([['node-c1', { diskPath: '/data/disks/node-c1' }]]),
  );
  expect(storageNodeSettingsOf({}, { ...given, isDemo: true, controllers: [] })).toBeUndefined();
});

test.each([
  ['n1', 'invalid value "n1"; it must be NODE=DIR'],
  ['=/tmp', 'invalid value'],
  ['../x=/tmp', 'invalid value'],
  ['n1=/nonexistent', '/nonexistent is not a directory'],
  ['n1=/etc/hostname', '/etc/hostname is not a directory'],
])('--storage-node %s is refused', (value, problem) => {
  expect(() => storageNodeSettingsOf({ storageNode: [value] }, given)).toThrow(problem);
});

test('a node has one directory, and needs the controller', () => {
  const path = existingDirectory();
  const storageNode = [`n1=${path}`];
  expect(() => storageNodeSettingsOf({ storageNode: [...storageNode, ...storageNode] }, given)).toThrow(
    'n1 is given twice',
  );
  expect(() => storageNodeSettingsOf({ storageNode }, { ...given, controllers: [] })).toThrow(
    'needs the controller disk-agent',
  );
});

test('run needs the name of the node', () => {
  const controllers = ['disk-agent'];
  expect(() => diskAgentSettingsOf({}, { controllers })).toThrow('--node-name');
  expect(diskAgentSettingsOf({ nodeName: 'n1' }, { controllers })).toEqual({
    nodes: new Map([['n1', {}]]),
    listenHost: undefined,
    port: 7444,
  });
  const at = (diskAgentAddress: string) => () =>
    diskAgentSettingsOf({ nodeName: 'n1', diskAgentAddress }, { controllers });
  expect(at('10.0.0.1:9000')()).toMatchObject({ listenHost: '10.0.0.1', port: 9000 });
  expect(at('here')).toThrow('is no address');
  expect(() => diskAgentSettingsOf({ diskAgentAddress: ':1' }, { controllers: [] })).toThrow(
    'needs the controller disk-agent',
  );
});

test('run starts an agent only if it is named', async () => {
  expect((await runSettings({ controllers: '*' })).names).not.toContain('disk-agent');
  expect((await runSettings({ controllers: '-namespace' })).names).not.toContain('disk-agent');
  const named = await runSettings({ controllers: 'disks,disk-agent', nodeName: 'n1' });
  expect(named.names).toEqual(['disks', 'disk-agent']);
  expect(named.diskAgent?.nodes).toEqual(new Map([['n1', {}]]));
  await expect(runSettings({ controllers: 'scheduler', nodeName: 'n1' })).rejects.toThrow(
    '--node-name: has a meaning only with --node-deployment or the controller disk-agent',
  );
});

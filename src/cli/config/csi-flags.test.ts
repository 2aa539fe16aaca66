import { expect, test } from 'vitest';
import { csiSettingsOf } from '../flags/csi-flags.ts';
import { runSettings } from './run-settings.ts';

const csiAddress = ['unix:///run/csi.sock'];

test('without an address there are no drivers, and no flags for them', () => {
  expect(csiSettingsOf({})).toBeUndefined();
  const problem = 'has a meaning only with a CSI driver; name it with --csi-address';
  expect(() => csiSettingsOf({ strictTopology: true })).toThrow(`--strict-topology: ${problem}`);
  expect(() => csiSettingsOf({ capacityPollInterval: '5s' })).toThrow(`--capacity-poll-interval: ${problem}`);
  expect(() => csiSettingsOf({ nodeDeployment: true, nodeName: 'n1' })).toThrow(
    `--node-deployment: ${problem}`,
  );
});

test('the driver of local drives has no address, and reads the same flags', () => {
  const controllers = ['drives', 'capacity'];
  expect(csiSettingsOf({ capacityPollInterval: '5s' }, { controllers })).toMatchObject({
    addresses: [],
    capacity: { pollIntervalMs: 5000 },
  });
  expect(csiSettingsOf({}, { controllers })).toBeUndefined();
});

test('the defaults are those of external-provisioner', () => {
  expect(csiSettingsOf({ csiAddress })).toMatchObject({
    addresses: csiAddress,
    timeoutMs: 10_000,
    strictTopology: undefined,
    immediateTopology: true,
    extraCreateMetadata: undefined,
    defaultFsType: undefined,
  });
});

test('flags change how volumes are created', () => {
  const flags = {
    strictTopology: true,
    immediateTopology: 'false',
    extraCreateMetadata: true,
    defaultFstype: 'xfs',
  };
  expect(csiSettingsOf({ csiAddress, ...flags })).toMatchObject({
    strictTopology: true,
    immediateTopology: false,
    extraCreateMetadata: true,
    defaultFsType: 'xfs',
  });
});

test('a value that is neither true nor false is refused', () => {
  expect(() => csiSettingsOf({ csiAddress, immediateTopology: 'no' })).toThrow('must be true or false');
});

test('a process for one node has no leader', async () => {
  const node = { csiAddress, controllers: 'provisioner', nodeDeployment: true, nodeName: 'n1' };
  const { leaderElection, csi } = await runSettings(node);
  expect({ leaderElection, nodeName: csi?.nodeName }).toEqual({ leaderElection: false, nodeName: 'n1' });
  await expect(runSettings({ ...node, leaderElect: true })).rejects.toThrow('--leader-elect: has no meaning');
});

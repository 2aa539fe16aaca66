import { expect, test } from 'vitest';
import { capacitySettingsOf, podEnvironment } from './capacity-flags.ts';
import { csiSettingsOf } from './csi-flags.ts';

const pod = { podName: 'csi-0', namespace: 'storage' };

test('without flags, only the pod decides: its namespace, and its controller as the owner', () => {
  expect(capacitySettingsOf({}, {})).toEqual({});
  expect(capacitySettingsOf({}, pod)).toEqual({
    namespace: 'storage',
    owner: { podName: 'csi-0', level: 1 },
  });
  expect(capacitySettingsOf({ capacityOwnerrefLevel: '-1' }, pod)).toEqual({ namespace: 'storage' });
});

test('times are read as external-provisioner reads them', () => {
  const intervalOf = (text: string) => capacitySettingsOf({ capacityPollInterval: text }, {}).pollIntervalMs;
  expect([intervalOf('1m30s'), intervalOf('45')]).toEqual([90_000, 45_000]);
});

test.each([
  { flags: { capacityForm: 'Both' }, message: '--capacity-form: "Both" must be one of' },
  { flags: { capacityPollInterval: '10ms' }, message: 'at least a second' },
  { flags: { capacityPollInterval: 'soon' }, message: '--capacity-poll-interval: "soon"' },
  { flags: { capacityThreads: '0' }, message: '--capacity-threads: "0" must be a number from 1' },
  { flags: { capacityOwnerrefLevel: 'x' }, message: '--capacity-ownerref-level: "x"' },
  { flags: { capacityOwnerrefLevel: '0' }, message: 'POD_NAME and NAMESPACE' },
])('$flags is refused: $message', ({ flags, message }) => {
  expect(() => capacitySettingsOf(flags, {})).toThrow(message);
});

test('the environment has the namespace and the name of the pod', () => {
  expect(podEnvironment({ NAMESPACE: 'a', POD_NAMESPACE: 'b', POD_NAME: 'c' })).toEqual({
    namespace: 'a',
    podName: 'c',
  });
});

test('--node-deployment and --node-name need each other', () => {
  expect(() => csiSettingsOf({ nodeDeployment: true })).toThrow('--node-name');
  expect(() => csiSettingsOf({ nodeName: 'n1' })).toThrow('--node-deployment');
});

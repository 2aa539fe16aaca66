import { expect, test } from 'vitest';
import { checkKubeletRegistration } from './kubelet-registration-flags.ts';

const endpoint = 'unix:///run/stowage/csi.sock';
const folder = '/var/lib/kubelet/plugins_registry';

test('without the flag nothing is required', () => {
  expect(() => checkKubeletRegistration({ endpoint }, false)).not.toThrow();
});

test.each([
  [{ kubeletEndpoint: endpoint }, '--kubelet-endpoint: needs --kubelet-registration'],
  [{ kubeletRegistration: 'plugins' }, 'it must be an absolute path'],
  [
    { kubeletRegistration: folder, kubeletEndpoint: 'csi.sock' },
    '--kubelet-endpoint: invalid value "csi.sock"',
  ],
])('%o is refused', (flags, problem) => {
  expect(() => checkKubeletRegistration({ endpoint, ...flags }, true)).toThrow(problem);
});

test('a process without the node service is not registered', () => {
  expect(() => checkKubeletRegistration({ endpoint, kubeletRegistration: folder }, false)).toThrow(
    'add node to --services',
  );
});

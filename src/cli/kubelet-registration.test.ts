import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CsiFixture } from '../csi/testing/csi-fixture.ts';
import { checkKubeletRegistration, registeredWithKubelet } from './kubelet-registration.ts';

const endpoint = 'unix:///run/stowage/csi.sock';
const folder = '/var/lib/kubelet/plugins_registry';

test('without the flag nothing is registered', async () => {
  await using fixture = new CsiFixture();
  checkKubeletRegistration({ endpoint }, false);
  expect(await registeredWithKubelet({ endpoint }, fixture.log)).toBeUndefined();
});

test('the socket has the name of the driver', async () => {
  await using fixture = new CsiFixture();
  const flags = { endpoint, kubeletRegistration: fixture.folder };
  await using _server = await registeredWithKubelet(flags, fixture.log);
  expect(existsSync(`${fixture.folder}/drives.stowage.dev-reg.sock`)).toBe(true);
  await expect(registeredWithKubelet(flags, fixture.log)).rejects.toMatchObject({
    name: 'CliError',
    message: expect.stringContaining('another process serves'),
  });
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

import { existsSync, statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { CsiFixture } from '../csi/testing/csi-fixture.ts';
import { checkKubeletRegistration, KubeletRegistration } from './kubelet-registration.ts';

const endpoint = 'unix:///run/stowage/csi.sock';
const folder = '/var/lib/kubelet/plugins_registry';

test('without the flag nothing is registered', async () => {
  await using fixture = new CsiFixture();
  checkKubeletRegistration({ endpoint }, false);
  expect(await KubeletRegistration.start({ endpoint }, fixture.log)).toBeUndefined();
});

test('the socket has the name of the driver', async () => {
  await using fixture = new CsiFixture();
  const flags = { endpoint, kubeletRegistration: fixture.folder };
  const registration = await KubeletRegistration.start(flags, fixture.log);
  onTestFinished(async () => await registration?.stop());
  expect(existsSync(`${fixture.folder}/drives.stowage.dev-reg.sock`)).toBe(true);
  await expect(KubeletRegistration.start(flags, fixture.log)).rejects.toMatchObject({
    name: 'CliError',
    message: expect.stringContaining('another process serves'),
  });
});

test('a node that gets or loses a topology label registers again; another value needs nothing', async () => {
  await using fixture = new CsiFixture();
  const flags = { endpoint, kubeletRegistration: fixture.folder };
  const registration = await KubeletRegistration.start(flags, fixture.log);
  const socket = `${fixture.folder}/drives.stowage.dev-reg.sock`;
  const created = () => statSync(socket, { bigint: true }).birthtimeNs;
  const first = created();
  registration?.topologyChanged({ node: 'n1', zone: 'b' }, { node: 'n1', zone: 'a' });
  expect(created()).toBe(first);
  registration?.topologyChanged({ node: 'n1' }, { node: 'n1', zone: 'b' });
  await expect.poll(() => existsSync(socket) && created() !== first).toBe(true);
  registration?.topologyChanged({ node: 'n1', zone: 'b' }, { node: 'n1' });
  await registration?.stop();
  expect(existsSync(socket)).toBe(false);
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

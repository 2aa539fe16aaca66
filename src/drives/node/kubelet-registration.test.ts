import { existsSync, statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { CsiFixture } from '../../csi/testing/csi-fixture.ts';
import { realClock } from '../../runtime/clock.ts';
import { KubeletRegistration } from './kubelet-registration.ts';

const endpoint = 'unix:///run/stowage/csi.sock';

function optionsIn({ folder, log }: CsiFixture) {
  return { directory: folder, endpoint, clock: realClock, log };
}

test('the socket has the name of the driver', async () => {
  await using fixture = new CsiFixture();
  const registration = await KubeletRegistration.start(optionsIn(fixture));
  onTestFinished(async () => await registration.stop());
  expect(existsSync(`${fixture.folder}/drives.stowage.dev-reg.sock`)).toBe(true);
  await expect(KubeletRegistration.start(optionsIn(fixture))).rejects.toMatchObject({
    name: 'CsiSocketError',
    message: expect.stringContaining('another process serves'),
  });
});

test('a node that gets or loses a topology label registers again; another value needs nothing', async () => {
  await using fixture = new CsiFixture();
  const registration = await KubeletRegistration.start(optionsIn(fixture));
  const socket = `${fixture.folder}/drives.stowage.dev-reg.sock`;
  const created = () => statSync(socket, { bigint: true }).birthtimeNs;
  const first = created();
  registration.topologyChanged({ node: 'n1', zone: 'b' }, { node: 'n1', zone: 'a' });
  expect(created()).toBe(first);
  registration.topologyChanged({ node: 'n1' }, { node: 'n1', zone: 'b' });
  await expect.poll(() => existsSync(socket) && created() !== first).toBe(true);
  registration.topologyChanged({ node: 'n1', zone: 'b' }, { node: 'n1' });
  await registration.stop();
  expect(existsSync(socket)).toBe(false);
});

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { uuidOf } from '../testing/drives-fixture.ts';
import { NodeFixture } from '../testing/node-fixture.ts';

const mib = 2 ** 20;

interface WaitingRelease {
  /** A file on the volume. */
  readonly file: string;
  readonly goOn: () => void;
}

/** The device of the volume `pvc-1` is lost, and the deletion of the volume waits while it looks for the device. */
async function releaseOnLostDrive(node: NodeFixture): Promise<WaitingRelease> {
  await node.addVolume('pvc-1', 100 * mib);
  await node.stage('pvc-1');
  const file = join(node.host.shownAt(node.path('stage-pvc-1')) ?? '', 'file');
  await writeFile(file, 'kept');
  await node.unstage('pvc-1');
  const goOn = holdDeviceChecks(node);
  node.host.disconnect('/dev/n1-a');
  await node.releaseVolume('pvc-1');
  await node.until(goOn.isHeld);
  return { file, goOn: goOn.release };
}

/** The checks of calls and deletions whether the device of a mount exists wait until `release` is called. */
function holdDeviceChecks({ host }: NodeFixture) {
  const check = host.hasDevice.bind(host);
  let isHeld = false;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  host.hasDevice = async (number) => {
    isHeld = true;
    await released;
    return await check(number);
  };
  return { isHeld: () => isHeld, release };
}

/** Writes what `stowage drives forget n1-a` writes. */
async function forgetDrive(node: NodeFixture): Promise<void> {
  await node.fixture.merge('n1-a', { metadata: { finalizers: [] }, spec: { volumes: [] } });
  await node.fixture.delete('n1-a');
}

test.each([
  { next: 'its Drive is created again', isAgain: true },
  { next: 'it has no Drive', isAgain: false },
])('a drive that is forgotten while a volume on it waits for deletion keeps the data: $next', async (to) => {
  const node = await NodeFixture.start();
  const { file, goOn } = await releaseOnLostDrive(node);
  await forgetDrive(node);
  if (to.isAgain) await node.addDrive('n1-a', 1024 * mib);
  else await node.host.connect('/dev/n1-a', uuidOf('n1-a'), 1024 * mib);
  goOn();
  // Calls for a volume wait until its deletion has ended.
  await node.unstage('pvc-1');
  expect(existsSync(file)).toBe(true);
});

test('the data is removed when the drive comes back and its Drive was not forgotten', async () => {
  const node = await NodeFixture.start();
  const { file, goOn } = await releaseOnLostDrive(node);
  await node.host.connect('/dev/n1-a', uuidOf('n1-a'), 1024 * mib);
  goOn();
  await node.until(async () => (await node.fixture.get('n1-a')).spec?.volumes?.length === 0);
  expect(existsSync(file)).toBe(false);
});

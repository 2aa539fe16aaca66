import { expect, test } from 'vitest';
import { InProcessDriver } from '../csi/in-process-driver.ts';
import { drivesServices } from './drives-services.ts';
import { callOptions, volumeOf } from './testing/drives-fixture.ts';
import { NodeFixture } from './testing/node-fixture.ts';

test('a process that does not lead says what the controller can do, so that its node is registered', async () => {
  const { node } = await NodeFixture.start();
  const services = drivesServices({ version: 'test', controller: () => undefined, node: node.methods });
  const driver = await InProcessDriver.connect(services, callOptions.signal);
  expect(driver.hasControllerCapability('CREATE_DELETE_VOLUME')).toBe(true);
  expect(await driver.call('NodeGetInfo', {}, callOptions)).toMatchObject({ nodeId: 'n1' });
  await expect(driver.call('CreateVolume', volumeOf('v', 1), callOptions)).rejects.toMatchObject({
    code: 'Unavailable',
  });
});

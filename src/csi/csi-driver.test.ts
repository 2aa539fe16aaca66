import { expect, test } from 'vitest';
import { CsiCallError, CsiDriverNameError, CsiReplyError, CsiStatusError } from './csi-errors.ts';
import { ControllerServiceCapability_RPC_Type, NodeServiceCapability_RPC_Type } from './generated/csi.ts';
import { CsiFixture, identityOf } from './testing/csi-fixture.ts';

function rpcCapability<Type extends number>(type: Type) {
  return { type: { case: 'rpc' as const, value: { type } } };
}

const { CREATE_DELETE_VOLUME, GET_CAPACITY } = ControllerServiceCapability_RPC_Type;
const { STAGE_UNSTAGE_VOLUME } = NodeServiceCapability_RPC_Type;

const controller = {
  controllerGetCapabilities: async () => ({ capabilities: [rpcCapability(CREATE_DELETE_VOLUME)] }),
};

test('a driver reports its name, version, topology and the capabilities of its services', async () => {
  await using fixture = new CsiFixture();
  const node = { nodeGetCapabilities: async () => ({ capabilities: [rpcCapability(STAGE_UNSTAGE_VOLUME)] }) };
  await fixture.serve({ identity: identityOf('one.example.com'), controller, node });
  const driver = await fixture.connect(fixture.client());
  expect(driver).toMatchObject({ name: 'one.example.com', vendorVersion: '1.0', hasTopology: true });
  expect(driver.hasPluginCapability('GROUP_CONTROLLER_SERVICE')).toBe(false);
  expect(driver.hasControllerCapability('CREATE_DELETE_VOLUME')).toBe(true);
  expect(driver.hasControllerCapability('GET_CAPACITY')).toBe(false);
  expect(driver.hasNodeCapability('STAGE_UNSTAGE_VOLUME')).toBe(true);
  await driver.call('NodeGetCapabilities', {}, { signal: fixture.signal });
  expect(fixture.metrics.render()).toContain('driver_name="one.example.com"');
});

test('a driver without controller and node service has no capabilities of them', async () => {
  await using fixture = new CsiFixture();
  const identity = { ...identityOf('one.example.com'), getPluginCapabilities: async () => ({}) };
  await fixture.serve({ identity });
  const driver = await fixture.connect(fixture.client());
  expect(driver.hasTopology).toBe(false);
  expect(driver.hasControllerCapability('CREATE_DELETE_VOLUME')).toBe(false);
  expect(driver.hasNodeCapability('STAGE_UNSTAGE_VOLUME')).toBe(false);
});

test('a driver that is unhealthy or not ready at first is waited for', async () => {
  await using fixture = new CsiFixture();
  let probes = 0;
  const probe = async () => {
    probes += 1;
    if (probes === 1) throw new CsiStatusError('FailedPrecondition', 'no disks yet');
    return { ready: probes > 2 };
  };
  await fixture.serve({ identity: { ...identityOf('one.example.com'), probe }, controller });
  await fixture.connect(fixture.client());
  expect(probes).toBe(3);
  expect(fixture.logged.join('')).toContain('no disks yet');
});

test('a probe that fails for good, and an abort, end the waiting', async () => {
  await using fixture = new CsiFixture();
  const probe = async () => {
    throw new CsiStatusError('PermissionDenied', 'no');
  };
  await fixture.serve({ identity: { ...identityOf('one.example.com'), probe } });
  await expect(fixture.connect(fixture.client())).rejects.toMatchObject({ code: 'PermissionDenied' });
  await expect(fixture.connect(fixture.client(), AbortSignal.abort())).rejects.toThrow(CsiCallError);
});

test.each(['', 'has space', '-x', 'x'.repeat(64)])('the invalid name %j is a reply error', async (name) => {
  await using fixture = new CsiFixture();
  await fixture.serve({ identity: identityOf(name) });
  const connecting = fixture.connect(fixture.client());
  await expect(connecting).rejects.toThrow(CsiReplyError);
  await expect(connecting).rejects.toMatchObject({ method: 'GetPluginInfo', field: 'name' });
});

test('capabilities are read again after a restart, once for all calls that wait', async () => {
  await using fixture = new CsiFixture();
  const first = await fixture.serve({ identity: identityOf('one.example.com'), controller });
  const driver = await fixture.connect(fixture.client());
  await first.stop(0);
  let asked = 0;
  const upgraded = {
    controllerGetCapabilities: async () => {
      asked += 1;
      return { capabilities: [rpcCapability(GET_CAPACITY)] };
    },
    getCapacity: async () => ({ availableCapacity: 5n }),
  };
  await fixture.serve({ identity: identityOf('one.example.com'), controller: upgraded });
  const options = { signal: fixture.signal, timeoutMs: 60_000 };
  const replies = await Promise.all([1, 2, 3].map(() => driver.call('GetCapacity', {}, options)));
  expect(replies.map(({ availableCapacity }) => availableCapacity)).toEqual([5n, 5n, 5n]);
  expect(asked).toBe(1);
  expect(driver.hasControllerCapability('GET_CAPACITY')).toBe(true);
  expect(driver.hasControllerCapability('CREATE_DELETE_VOLUME')).toBe(false);
});

test('another driver at the same address gets no call, and the error has both names', async () => {
  await using fixture = new CsiFixture();
  const first = await fixture.serve({ identity: identityOf('one.example.com'), controller });
  const driver = await fixture.connect(fixture.client());
  await first.stop(0);
  let deleted = 0;
  const deleteVolume = async () => {
    deleted += 1;
    return {};
  };
  await fixture.serve({
    identity: identityOf('two.example.com'),
    controller: { ...controller, deleteVolume },
  });
  await fixture.reconnected(driver.client);
  const options = { signal: fixture.signal, timeoutMs: 60_000 };
  for (let times = 0; times < 2; times++) {
    const call = driver.call('DeleteVolume', { volumeId: 'v' }, options);
    await expect(call).rejects.toThrow(CsiDriverNameError);
    await expect(call).rejects.toThrow(/was one\.example\.com and now calls itself two\.example\.com/);
  }
  expect(deleted).toBe(0);
});

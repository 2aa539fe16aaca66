import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { realClock } from '../runtime/clock.ts';
import { silentLog } from '../runtime/log.ts';
import { CsiServer, type CsiServices } from './csi-server.ts';
import { CsiFixture, identityOf } from './testing/csi-fixture.ts';

const identity = identityOf('test.example.com');
const capability = { accessType: { case: 'block' as const, value: {} }, accessMode: { mode: 1 as const } };

describe('the socket', () => {
  test('is for the owner only, and is removed by a stop', async () => {
    await using fixture = new CsiFixture();
    const server = await fixture.serve({ identity });
    expect(statSync(fixture.path).mode & 0o777).toBe(0o600);
    await server.stop();
    expect(existsSync(fixture.path)).toBe(false);
  });

  test('of a killed process is replaced', async () => {
    await using fixture = new CsiFixture();
    const script = `require('net').createServer().listen(${JSON.stringify(fixture.path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script]);
    expect(statSync(fixture.path).isSocket()).toBe(true);
    await fixture.serve({ identity });
    await fixture.client().call('Probe', {}, { signal: fixture.signal });
  });

  test('of a running process is refused and keeps working', async () => {
    await using fixture = new CsiFixture();
    await fixture.serve({ identity });
    await expect(fixture.serve({ identity })).rejects.toThrow(
      `another process serves ${fixture.path}; stop it, or choose another path`,
    );
    await fixture.client().call('Probe', {}, { signal: fixture.signal });
  });

  test('is refused where another server listens that speaks no gRPC', async () => {
    await using fixture = new CsiFixture();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(fixture.path, resolve));
    fixture.onClose(() => other.close());
    await expect(fixture.serve({ identity })).rejects.toThrow('another process serves');
  });

  test('never replaces a file, and an error names the missing directory', async () => {
    await using fixture = new CsiFixture();
    writeFileSync(fixture.path, 'data');
    await expect(fixture.serve({ identity })).rejects.toThrow(`${fixture.path} exists and is not a socket`);
    expect(existsSync(fixture.path)).toBe(true);
    const address = `${fixture.folder}/missing/csi.sock`;
    const options = { address, services: { identity }, clock: realClock, log: silentLog };
    await expect(CsiServer.start(options)).rejects.toThrow(`create ${fixture.folder}/missing`);
  });
});

describe('a stop', () => {
  function slowDriver() {
    let started: () => void = () => {};
    let release: () => void = () => {};
    const hasStarted = new Promise<void>((resolve) => {
      started = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const deleteVolume = async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
      started();
      await Promise.race([released, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      return {};
    };
    return { hasStarted, release: () => release(), services: { identity, controller: { deleteVolume } } };
  }

  test('lets calls in progress end', async () => {
    await using fixture = new CsiFixture();
    const { hasStarted, release, services } = slowDriver();
    const server = await fixture.serve(services);
    const call = fixture
      .client()
      .call('DeleteVolume', { volumeId: 'v' }, { signal: fixture.signal, timeoutMs: 60_000 });
    await hasStarted;
    const stopped = server.stop(60_000);
    release();
    await call;
    await stopped;
  });

  test('cancels calls that take longer than the grace period', async () => {
    await using fixture = new CsiFixture();
    const { hasStarted, services } = slowDriver();
    const server = await fixture.serve(services);
    const call = fixture
      .client()
      .call('DeleteVolume', { volumeId: 'v' }, { signal: fixture.signal, timeoutMs: 60_000 });
    const ended = expect(call).rejects.toMatchObject({ outcome: { effect: 'unknown' } });
    await hasStarted;
    await server.stop(1);
    await ended;
  });
});

describe('a request', () => {
  const volume = async () => ({ volume: { volumeId: 'v' } });
  const services: CsiServices = {
    identity,
    controller: { createVolume: volume, controllerExpandVolume: async () => ({ capacityBytes: 1n }) },
    node: { nodePublishVolume: async () => ({}) },
  };

  test.each([
    [{}, 'name: is required'],
    [{ name: 'a' }, 'volume_capabilities: is required'],
    [{ name: 'a', volumeCapabilities: [{}] }, 'volume_capabilities[0].access_type: is required'],
    [
      { name: 'a', volumeCapabilities: [capability, { accessType: capability.accessType }] },
      'volume_capabilities[1].access_mode: is required',
    ],
    [{ name: 'é'.repeat(65), volumeCapabilities: [capability] }, 'name: has 130 bytes'],
    [
      { name: 'a', volumeCapabilities: [capability], capacityRange: { requiredBytes: -1n } },
      'capacity_range.required_bytes: must not be negative',
    ],
    [
      { name: 'a', volumeCapabilities: [capability], capacityRange: { requiredBytes: 2n, limitBytes: 1n } },
      'capacity_range.limit_bytes: is 1, below required_bytes 2',
    ],
    [
      { name: 'a', volumeCapabilities: [capability], capacityRange: {} },
      'required_bytes or limit_bytes must be set',
    ],
  ])('to CreateVolume is rejected with the field: %o', async (request, problem) => {
    await using fixture = new CsiFixture();
    await fixture.serve(services);
    const call = fixture.client().call('CreateVolume', request, { signal: fixture.signal });
    await expect(call).rejects.toMatchObject({ code: 'InvalidArgument' });
    await expect(call).rejects.toThrow(problem);
  });

  test('without the fields that other methods require is rejected', async () => {
    await using fixture = new CsiFixture();
    await fixture.serve(services);
    const client = fixture.client();
    const options = { signal: fixture.signal };
    await expect(client.call('ControllerExpandVolume', { volumeId: 'v' }, options)).rejects.toThrow(
      'capacity_range: is required',
    );
    await expect(client.call('NodePublishVolume', { volumeId: 'v' }, options)).rejects.toThrow(
      'target_path: is required',
    );
  });

  test('whose implementation throws is answered as Internal', async () => {
    await using fixture = new CsiFixture();
    const createVolume = async () => {
      throw new TypeError('a bug');
    };
    await fixture.serve({ identity, controller: { createVolume } });
    const request = { name: 'a', volumeCapabilities: [capability] };
    const call = fixture.client().call('CreateVolume', request, { signal: fixture.signal });
    await expect(call).rejects.toMatchObject({ code: 'Internal' });
    await expect(call).rejects.toThrow('a bug');
  });
});

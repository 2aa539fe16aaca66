import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { CsiCallError, CsiDriverNameError, CsiMessageSizeError } from '../../src/csi/csi-errors.ts';
import { CsiFixture, identityOf } from '../../src/csi/testing/csi-fixture.ts';
import { freeze } from './testing/freeze.ts';
import { MockDriver } from './testing/mock-driver.ts';
import { lacks } from './vitest-beds.ts';

const gib = 2n ** 30n;
const capability = { accessType: { case: 'mount' as const, value: {} }, accessMode: { mode: 1 as const } };
const volume = (name: string, requiredBytes: bigint) => ({
  name,
  volumeCapabilities: [capability],
  capacityRange: { requiredBytes },
});

describe.skipIf(lacks('csi-mock'))('a CSI driver in Go', () => {
  /** Ends with the fixture. */
  function start(fixture: CsiFixture, name: string): ChildProcess {
    rmSync(fixture.path, { force: true });
    const child = spawn(inject('kubernetesPrograms')['csi-mock']!, [fixture.path, name], { stdio: 'ignore' });
    fixture.onClose(() => child.kill('SIGKILL'));
    return child;
  }

  function ended(child: ChildProcess): Promise<unknown> {
    return new Promise((resolve) => child.once('exit', resolve));
  }

  test('is found although it starts later, reports its name, and creates, repeats and deletes a volume', async () => {
    await using fixture = new CsiFixture();
    const connecting = fixture.connect(fixture.client());
    start(fixture, 'mock.example.com');
    const driver = await connecting;
    expect(driver).toMatchObject({ name: 'mock.example.com', vendorVersion: '0.3.0', hasTopology: true });
    expect(driver.hasControllerCapability('CREATE_DELETE_VOLUME')).toBe(true);
    expect(driver.hasNodeCapability('STAGE_UNSTAGE_VOLUME')).toBe(true);
    const options = { signal: fixture.signal, timeoutMs: 60_000 };

    const first = await driver.call('CreateVolume', volume('pvc-1', gib), options);
    expect(first.volume).toMatchObject({ capacityBytes: gib });
    expect(first.volume?.accessibleTopology[0]?.segments).toEqual({
      'io.kubernetes.storage.mock/node': 'some-mock-node',
    });
    const repeated = await driver.call('CreateVolume', volume('pvc-1', gib), options);
    expect(repeated.volume?.volumeId).toBe(first.volume?.volumeId);
    await expect(driver.call('CreateVolume', volume('pvc-1', 2n * gib), options)).rejects.toMatchObject({
      code: 'AlreadyExists',
      outcome: { effect: 'none', next: 'change' },
    });
    await expect(driver.call('CreateVolume', volume('pvc-2', 2n ** 62n), options)).rejects.toMatchObject({
      code: 'OutOfRange',
    });

    const capacity = await driver.call('GetCapacity', {}, options);
    expect(capacity.availableCapacity).toBeGreaterThan(gib);
    const { nodeId } = await driver.call('NodeGetInfo', {}, options);
    expect(nodeId).not.toBe('');
    const { volumeId = '' } = first.volume ?? {};
    await driver.call('DeleteVolume', { volumeId }, options);
    await driver.call('DeleteVolume', { volumeId }, options);
  });

  test('with pools has a segment for each node, reports what is free in it, and refuses what does not fit', async () => {
    const driver = await MockDriver.start({ pools: { n1: 2, n2: 8 }, nodes: ['n1', 'n2'] });
    const { topologyKey } = driver;
    const at = (segment: string) => ({ segments: { [topologyKey]: segment } });
    const on = (segment: string) => ({ requisite: [at(segment)], preferred: [at(segment)] });
    const free = async (segment: string, parameters = {}) => {
      const reply = await driver.call('GetCapacity', { accessibleTopology: at(segment), parameters });
      return reply.availableCapacity / gib;
    };
    const create = (name: string, segment: string, parameters = {}) =>
      driver.call('CreateVolume', {
        ...volume(name, 2n * gib),
        accessibilityRequirements: on(segment),
        parameters,
      });

    const first = await create('pvc-1', 'n1');
    expect(first.volume?.accessibleTopology).toMatchObject([at('n1')]);
    await create('pvc-1', 'n1');
    await expect(create('pvc-2', 'n1')).rejects.toMatchObject({ code: 'ResourceExhausted' });
    await create('pvc-2', 'n2', { copies: '2' });
    expect([await free('n1'), await free('n2'), await free('n2', { copies: '2' })]).toEqual([0n, 4n, 2n]);
    expect(await driver.volumeNames()).toEqual(['pvc-1', 'pvc-2']);
    const { volumeId = '' } = first.volume ?? {};
    await driver.call('DeleteVolume', { volumeId });
    expect(await free('n1')).toBe(2n);
    expect(driver.calls('CreateVolume').map(({ code }) => code)).toEqual([
      'OK',
      'OK',
      'ResourceExhausted',
      'OK',
    ]);
  });

  test('may refuse a message that is too large for it', async () => {
    await using fixture = new CsiFixture();
    start(fixture, 'mock.example.com');
    const driver = await fixture.connect(fixture.client());
    const huge = { ...volume('pvc-1', gib), parameters: { x: 'y'.repeat(5 * 1024 * 1024) } };
    const call = driver.call('CreateVolume', huge, { signal: fixture.signal, timeoutMs: 60_000 });
    await expect(call).rejects.toThrow(CsiMessageSizeError);
  });

  test('may freeze and continue, die and return; another driver in its place gets no call', async () => {
    await using fixture = new CsiFixture();
    const first = start(fixture, 'mock.example.com');
    const driver = await fixture.connect(fixture.client());
    const options = { signal: fixture.signal, timeoutMs: 60_000 };
    await freeze(first.pid!);
    const hanging = driver.call('CreateVolume', volume('pvc-1', gib), {
      signal: fixture.signal,
      timeoutMs: 500,
    });
    await expect(hanging).rejects.toThrow(CsiCallError);
    await expect(hanging).rejects.toMatchObject({ code: 'DeadlineExceeded', outcome: { effect: 'unknown' } });
    first.kill('SIGCONT');
    await driver.call('CreateVolume', volume('pvc-1', gib), options);

    first.kill('SIGKILL');
    await ended(first);
    const second = start(fixture, 'mock.example.com');
    await fixture.reconnected(driver.client);
    await driver.call('CreateVolume', volume('pvc-1', gib), options);

    second.kill('SIGKILL');
    await ended(second);
    start(fixture, 'other.example.com');
    await fixture.reconnected(driver.client);
    await expect(driver.call('Probe', {}, options)).rejects.toThrow(CsiDriverNameError);
  });
});

describe.skipIf(lacks('csi-sanity'))('a CSI client in Go', () => {
  test('finds the identity service of our server correct', async () => {
    await using fixture = new CsiFixture();
    await fixture.serve({
      identity: identityOf('test.example.com'),
      node: { nodeGetCapabilities: async () => ({}) },
    });
    const sanity = promisify(execFile)(inject('kubernetesPrograms')['csi-sanity']!, [
      `--csi.endpoint=unix://${fixture.path}`,
      '--ginkgo.focus=Identity Service',
    ]);
    // What fails is in its output, not in the error.
    const { stdout } = await sanity.catch((error: unknown) => {
      throw new Error(`csi-sanity failed: ${(error as { readonly stdout?: string }).stdout}`, {
        cause: error,
      });
    });
    expect(stdout).toMatch(/Ran [1-9]\d* of \d+ Specs/);
  });
});

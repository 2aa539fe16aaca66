import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { create, type DescMethodUnary, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { realClock } from '../../runtime/clock.ts';
import { methodPath } from '../csi-methods.ts';
import type { CsiServer } from '../csi-server.ts';
import {
  InfoRequestSchema,
  Registration,
  RegistrationStatusSchema,
} from '../generated/plugin-registration.ts';
import { CsiFixture, identityOf } from '../testing/csi-fixture.ts';
import { registerWithKubelet, registrationSocket } from './kubelet-registration.ts';

const driver = 'drives.example.com';
const { method } = Registration;

function register(fixture: CsiFixture, endpoint = '/run/csi.sock'): Promise<CsiServer> {
  const { folder, log } = fixture;
  return registerWithKubelet({ folder, driver, endpoint, clock: realClock, log });
}

/** Calls the socket as the kubelet does: with the paths of gRPC's own code for Go, and without metadata. */
async function callAsKubelet<Rpc extends DescMethodUnary>(
  fixture: CsiFixture,
  rpc: Rpc,
  request: MessageShape<Rpc['input']>,
): Promise<MessageShape<Rpc['output']>> {
  const client = new Client(
    `unix:${registrationSocket(fixture.folder, driver)}`,
    credentials.createInsecure(),
  );
  try {
    const bytes = await new Promise<Uint8Array>((resolve, reject) => {
      client.makeUnaryRequest(
        methodPath(rpc),
        (message: Uint8Array) => Buffer.from(message),
        (reply: Buffer): Uint8Array => reply,
        toBinary(rpc.input, request),
        { deadline: Number.POSITIVE_INFINITY },
        (error, reply) => (reply === undefined ? reject(error) : resolve(reply)),
      );
    });
    return fromBinary(rpc.output, bytes) as MessageShape<Rpc['output']>;
  } finally {
    client.close();
  }
}

describe('the registration with the kubelet', () => {
  test('names the driver, its socket and the versions of CSI', async () => {
    await using fixture = new CsiFixture();
    await using _server = await register(fixture, 'unix:///var/lib/kubelet/plugins/drives/csi.sock');
    expect(methodPath(method.getInfo)).toBe('/pluginregistration.Registration/GetInfo');
    const info = await callAsKubelet(fixture, method.getInfo, create(InfoRequestSchema));
    expect(info).toMatchObject({
      type: 'CSIPlugin',
      name: driver,
      endpoint: '/var/lib/kubelet/plugins/drives/csi.sock',
      supportedVersions: ['1.0.0'],
    });
  });

  test('reports what the kubelet says, and keeps answering after a failure', async () => {
    await using fixture = new CsiFixture();
    await using _server = await register(fixture);
    const notify = (pluginRegistered: boolean, error = '') =>
      callAsKubelet(
        fixture,
        method.notifyRegistrationStatus,
        create(RegistrationStatusSchema, { pluginRegistered, error }),
      );
    await notify(false, 'node n1 not found');
    expect(fixture.logged.join('\n')).toMatch(/"level":"warn".*cannot register.*node n1 not found/);
    await notify(true);
    expect(fixture.logged.join('\n')).toContain(`the kubelet has registered ${driver}`);
  });

  test('has a socket for the owner only, which disappears with the process that stops', async () => {
    await using fixture = new CsiFixture();
    const server = await register(fixture);
    const path = registrationSocket(fixture.folder, driver);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await server.stop();
    expect(existsSync(path)).toBe(false);
  });

  test('replaces the socket of a killed process, and leaves that of another driver alone', async () => {
    await using fixture = new CsiFixture();
    const path = registrationSocket(fixture.folder, driver);
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script]);
    await using _server = await register(fixture);
    const info = await callAsKubelet(fixture, method.getInfo, create(InfoRequestSchema));
    expect(info.name).toBe(driver);
    await fixture.serve({ identity: identityOf('other.example.com') });
    await fixture.client().call('Probe', {}, { signal: fixture.signal });
  });

  test('is refused where another process serves the driver, and where the directory is missing', async () => {
    await using fixture = new CsiFixture();
    await using _server = await register(fixture);
    await expect(register(fixture)).rejects.toThrow('another process serves');
    const { log, folder } = fixture;
    const common = { driver, endpoint: '/run/csi.sock', clock: realClock, log };
    await expect(registerWithKubelet({ ...common, folder: `${folder}/missing` })).rejects.toThrow(
      `create ${folder}/missing`,
    );
    await expect(
      registerWithKubelet({ ...common, folder, endpoint: 'csi.sock', endpointSource: '--kubelet-endpoint' }),
    ).rejects.toThrow('--kubelet-endpoint: invalid value "csi.sock"');
  });
});

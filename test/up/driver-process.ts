import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { CsiClient } from '../../src/csi/csi-client.ts';
import type { CsiMethodName, CsiReply, CsiRequestInit } from '../../src/csi/csi-methods.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { ApiClient } from './api-client.ts';
import { delay, StowageProcess } from './stowage-process.ts';

export const drivesPath = '/apis/stowage.dev/v1alpha1/drives';

/** `stowage csi` with a socket of its own, and a client for it. */
export class DriverProcess {
  readonly stowage: StowageProcess;
  readonly #client: CsiClient;

  constructor(
    folder: string,
    name: string,
    kubeconfig: string,
    flags: readonly string[] = ['--services=controller'],
  ) {
    const address = `unix://${join(folder, `${name}.sock`)}`;
    this.stowage = new StowageProcess(['csi', '--endpoint', address, ...flags, '--kubeconfig', kubeconfig]);
    this.#client = new CsiClient({ address, clock: realClock, log: silentLog, metrics: new Metrics() });
    onTestFinished(async () => {
      this.#client.close();
      await this.stowage.kill();
    });
  }

  async printed(text: string): Promise<void> {
    let hasExited = false;
    this.stowage.exited.then(() => {
      hasExited = true;
    });
    while (!this.stowage.stderr.includes(text)) {
      if (hasExited) expect.fail(`the process ended without "${text}"\n${this.stowage.stderr}`);
      await delay(10);
    }
  }

  call<Name extends CsiMethodName>(name: Name, request: CsiRequestInit<Name>): Promise<CsiReply<Name>> {
    return this.#client.call(name, request, { signal: AbortSignal.timeout(60_000), timeoutMs: 60_000 });
  }

  create(
    name: string,
    bytes: number,
    parameters: Record<string, string> = {},
  ): Promise<CsiReply<'CreateVolume'>> {
    return this.call('CreateVolume', {
      name,
      parameters,
      volumeCapabilities: [{ accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } }],
      capacityRange: { requiredBytes: BigInt(bytes) },
    });
  }
}

/** A drive of the Node `n1`, which is created with its first drive. */
export async function createDrive(client: ApiClient, name: string, capacityBytes: number): Promise<void> {
  const node = await client.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'n1' } } });
  expect([201, 409]).toContain(node.status);
  const body = {
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Drive',
    metadata: { name },
    spec: { nodeName: 'n1', filesystemUUID: `b7f6c1de-4a2e-4c6f-9d0b-00000000000${name.at(-1)}` },
  };
  expect((await client.call('POST', drivesPath, { body })).status).toBe(201);
  const status = await client.call('PATCH', `${drivesPath}/${name}/status`, {
    body: { status: { capacityBytes, state: 'Ready' } },
    contentType: 'application/merge-patch+json',
  });
  expect(status.status).toBe(200);
}

import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { CsiCallError, CsiMessageSizeError, CsiReplyError, CsiStatusError } from './csi-errors.ts';
import type { CsiServices } from './csi-server.ts';
import { CsiFixture, identityOf } from './testing/csi-fixture.ts';
import { RawGrpcServer } from './testing/raw-grpc-server.ts';

const createPath = '/csi.v1.Controller/CreateVolume';

const capability = { accessType: { case: 'block' as const, value: {} }, accessMode: { mode: 1 as const } };
const wanted = { name: 'pvc-1', volumeCapabilities: [capability] };

function services(controller: NonNullable<CsiServices['controller']> = {}): CsiServices {
  return { identity: identityOf('test.example.com'), controller };
}

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
}

function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('sizes are exact in both directions', async () => {
  await using fixture = new CsiFixture();
  const requiredBytes = 2n ** 63n - 1n;
  await fixture.serve(
    services({
      createVolume: async ({ name, capacityRange }) => ({
        volume: { volumeId: `id of ${name}`, capacityBytes: capacityRange?.requiredBytes ?? 0n },
      }),
    }),
  );
  const request = { ...wanted, capacityRange: { requiredBytes } };
  const { volume } = await fixture.client().call('CreateVolume', request, { signal: fixture.signal });
  expect(volume).toMatchObject({ volumeId: 'id of pvc-1', capacityBytes: requiredBytes });
});

describe('a driver', () => {
  test('may start after the call', async () => {
    await using fixture = new CsiFixture();
    const call = fixture.client().call('Probe', {}, { signal: fixture.signal, timeoutMs: 60_000 });
    await fixture.serve(services());
    expect(await call).toMatchObject({ $typeName: 'csi.v1.ProbeResponse' });
  });

  test('may restart', async () => {
    await using fixture = new CsiFixture();
    const client = fixture.client();
    for (const connection of [1, 2, 3]) {
      const server = await fixture.serve(services());
      await fixture.reconnected(client);
      expect(client.connection).toBe(connection);
      await server.stop(0);
    }
  });

  test('that is not there is reported with its address, and nothing was sent', async () => {
    await using fixture = new CsiFixture();
    const error = await caught(fixture.client().call('Probe', {}, { signal: fixture.signal, timeoutMs: 1 }));
    expect(error).toBeInstanceOf(CsiCallError);
    expect(error).toMatchObject({ code: 'Unavailable', sent: false });
    expect(String(error)).toContain(
      `no driver answers at unix://${fixture.path}; start it, or correct the address`,
    );
  });

  test('that hangs ends at the deadline, and the result is unknown', async () => {
    await using fixture = new CsiFixture();
    await fixture.serve(services({ createVolume: (_, { signal }) => never(signal) }));
    const client = fixture.client();
    await client.call('Probe', {}, { signal: fixture.signal });
    const error = await caught(
      client.call('CreateVolume', wanted, { signal: fixture.signal, timeoutMs: 200 }),
    );
    expect(error).toMatchObject({
      code: 'DeadlineExceeded',
      sent: true,
      outcome: { effect: 'unknown', next: 'retry' },
    });
  });

  test('that dies during a call leaves the result unknown', async () => {
    await using fixture = new CsiFixture();
    let started: () => void = () => {};
    const hasStarted = new Promise<void>((resolve) => {
      started = resolve;
    });
    const server = await fixture.serve(
      services({
        createVolume: (_, { signal }) => {
          started();
          return never(signal);
        },
      }),
    );
    const call = caught(
      fixture.client().call('CreateVolume', wanted, { signal: fixture.signal, timeoutMs: 60_000 }),
    );
    await hasStarted;
    await server.stop(0);
    expect(await call).toMatchObject({ sent: true, outcome: { effect: 'unknown' } });
  });
});

describe('a caller that aborts', () => {
  test('while the driver works cancels the call there', async () => {
    await using fixture = new CsiFixture();
    const abort = new AbortController();
    let ended: () => void = () => {};
    const hasEnded = new Promise<void>((resolve) => {
      ended = resolve;
    });
    await fixture.serve(
      services({
        deleteVolume: (_, { signal }) => {
          abort.abort();
          return never(signal).finally(() => ended());
        },
      }),
    );
    const error = await caught(
      fixture.client().call('DeleteVolume', { volumeId: 'v' }, { signal: abort.signal }),
    );
    expect(error).toMatchObject({ code: 'Canceled', sent: true, outcome: { effect: 'unknown' } });
    await hasEnded;
  });

  test('before the driver is there sends nothing', async () => {
    await using fixture = new CsiFixture();
    const abort = new AbortController();
    const call = caught(fixture.client().call('Probe', {}, { signal: abort.signal, timeoutMs: 60_000 }));
    abort.abort();
    expect(await call).toMatchObject({ code: 'Canceled', sent: false });
  });

  test('by closing the client ends its calls', async () => {
    await using fixture = new CsiFixture();
    const client = fixture.client();
    const call = caught(client.call('Probe', {}, { signal: fixture.signal, timeoutMs: 60_000 }));
    client.close();
    expect(await call).toMatchObject({ code: 'Canceled' });
    expect(await caught(client.call('Probe', {}, { signal: fixture.signal }))).toMatchObject({
      code: 'Canceled',
    });
  });
});

test('a code is the typed error with what it means, and is counted', async () => {
  await using fixture = new CsiFixture();
  await fixture.serve(
    services({
      createVolume: async () => {
        throw new CsiStatusError('ResourceExhausted', 'pool full');
      },
    }),
  );
  const error = await caught(fixture.client().call('CreateVolume', wanted, { signal: fixture.signal }));
  expect(error).toMatchObject({ code: 'ResourceExhausted', outcome: { effect: 'none', next: 'move' } });
  expect(String(error)).toContain('CreateVolume: ResourceExhausted: pool full');
  const labels = `driver_name="unknown-driver",method_name="${createPath}",grpc_status_code="ResourceExhausted"`;
  expect(fixture.metrics.render()).toContain(`csi_sidecar_operations_seconds_count{${labels}} 1`);
});

describe('secrets are neither in logs nor in errors nor in metrics', () => {
  const request = { ...wanted, secrets: { password: 'hunter22' } };

  async function expectStripped(fixture: CsiFixture): Promise<void> {
    const error = await caught(fixture.client().call('CreateVolume', request, { signal: fixture.signal }));
    expect(String(error)).toContain('wrong password ***stripped***');
    expect(fixture.logged.join('')).toContain('CSI call');
    const all = [...fixture.logged, fixture.metrics.render(), String(error), JSON.stringify(error)];
    expect(all.join('\n')).not.toContain('hunter22');
  }

  test('of the client, even if the driver repeats them', async () => {
    await using fixture = new CsiFixture();
    const raw = await RawGrpcServer.start(fixture.path);
    fixture.onClose(() => raw.stop());
    raw.answer = { code: 16, details: 'wrong password hunter22' };
    await expectStripped(fixture);
  });

  test('of the server, even if the implementation repeats them', async () => {
    await using fixture = new CsiFixture();
    const createVolume = async ({ secrets }: { readonly secrets: Readonly<Record<string, string>> }) => {
      throw new Error(`wrong password ${secrets.password}`);
    };
    await fixture.serve(services({ createVolume }));
    await expectStripped(fixture);
    expect(fixture.logged.join('')).toContain('CSI request failed');
  });
});

describe('messages that are too large', () => {
  test('from the driver do not mean that capacity is exhausted', async () => {
    await using fixture = new CsiFixture();
    await fixture.serve(
      services({
        createVolume: async () => ({ volume: { volumeId: 'v', volumeContext: { x: 'y'.repeat(10_000) } } }),
      }),
    );
    const client = fixture.client({ replyBytesMax: 1000 });
    const error = await caught(client.call('CreateVolume', wanted, { signal: fixture.signal }));
    expect(error).toBeInstanceOf(CsiMessageSizeError);
    expect(error).toMatchObject({ outcome: { effect: 'unknown', next: 'change' } });
  });

  test('to the driver are refused by the server', async () => {
    await using fixture = new CsiFixture();
    await fixture.serve(services({ createVolume: async () => ({}) }), { requestBytesMax: 1000 });
    const request = { ...wanted, parameters: { x: 'y'.repeat(10_000) } };
    const error = await caught(fixture.client().call('CreateVolume', request, { signal: fixture.signal }));
    expect(error).toBeInstanceOf(CsiMessageSizeError);
  });
});

test('a driver without the method answers Unimplemented', async () => {
  await using fixture = new CsiFixture();
  await fixture.serve(services());
  const error = await caught(fixture.client().call('GetCapacity', {}, { signal: fixture.signal }));
  expect(error).toMatchObject({ code: 'Unimplemented', outcome: { effect: 'none', next: 'change' } });
});

test('bytes that are not a message are a reply error', async () => {
  await using fixture = new CsiFixture();
  const raw = await RawGrpcServer.start(fixture.path);
  fixture.onClose(() => raw.stop());
  raw.answer = Uint8Array.of(0x0a, 0xff);
  const error = await caught(fixture.client().call('CreateVolume', wanted, { signal: fixture.signal }));
  expect(error).toBeInstanceOf(CsiReplyError);
  expect(error).toMatchObject({ field: '', outcome: { effect: 'unknown' } });
});

test('a code that gRPC does not know counts as Unknown', async () => {
  await using fixture = new CsiFixture();
  const raw = await RawGrpcServer.start(fixture.path);
  fixture.onClose(() => raw.stop());
  raw.answer = { code: 99, details: '' };
  const error = await caught(fixture.client().call('CreateVolume', wanted, { signal: fixture.signal }));
  expect(error).toMatchObject({ code: 'Unknown' });
  expect(String(error)).toContain('the driver gave no reason');
});

test.each([
  ['closes every connection', (socket: import('node:net').Socket) => socket.destroy()],
  [
    'speaks another protocol',
    (socket: import('node:net').Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
  ],
  ['says nothing', () => {}],
])('a socket whose process %s is an unavailable driver', async (_, behave) => {
  await using fixture = new CsiFixture();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    fixture.onClose(() => socket.destroy());
    behave(socket);
  });
  await new Promise<void>((resolve) => server.listen(fixture.path, resolve));
  fixture.onClose(() => server.close());
  const error = await caught(fixture.client().call('Probe', {}, { signal: fixture.signal, timeoutMs: 300 }));
  expect(error).toBeInstanceOf(CsiCallError);
  expect((error as CsiCallError).code).toMatch(/^(Unavailable|DeadlineExceeded|Internal)$/);
});

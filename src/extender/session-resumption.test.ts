import { type ConnectionOptions, connect } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { ada, authorityCert, localhost } from '../cluster/kubernetes/testing/certificates.ts';
import { makeCertificate } from '../io/tls/certificate.ts';
import { realClock } from '../runtime/clock.ts';
import { ExtenderFixture } from './testing/extender-fixture.ts';

const versions = ['TLSv1.2', 'TLSv1.3'] as const;
const { certificate, key } = makeCertificate(realClock.nowMs());

const callers: readonly (readonly [who: string, proof: ConnectionOptions, status: number])[] = [
  ['no certificate', {}, 403],
  ['the certificate of another authority', { cert: certificate, key }, 403],
  ["a server's certificate of the authority", localhost, 403],
  // Let in, and told that its body makes no sense.
  ['a certificate of the authority', ada, 400],
];

interface Answer {
  readonly status: number;
  readonly isResumed: boolean;
  readonly session: Buffer | undefined;
}

/** One request on a connection of its own. */
function post(port: number, path: string, options: ConnectionOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = '';
    let session: Buffer | undefined;
    let isResumed = false;
    const socket = connect({ port, host: '127.0.0.1', ca: authorityCert, ...options });
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('session', (made) => {
      session = made;
    });
    socket.once('secureConnect', () => {
      // TLS 1.2 has one from the start, and tells of it only if it is a ticket.
      session ??= socket.getSession();
      isResumed = socket.isSessionReused();
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]`);
    });
    socket.once('error', reject);
    socket.once('close', () => {
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? [];
      resolve({ status: Number(status), isResumed, session });
    });
  });
}

describe.each(versions)('%s: a caller that comes back with its session is asked anew:', (version) => {
  test.each(callers)('%s', async (_, proof, status) => {
    await using fixture = await ExtenderFixture.start();
    const options = { ...proof, minVersion: version, maxVersion: version };
    for (const path of ['/filter', '/bind']) {
      const first = await post(fixture.port, path, options);
      const { session } = first;
      const second = await post(fixture.port, path, {
        ...options,
        ...(session !== undefined && { session }),
      });
      expect([first.status, second.status]).toEqual([status, status]);
      expect(second.isResumed).toBe(false);
    }
  });

  test('also one that has its session from when it had a certificate', async () => {
    await using fixture = await ExtenderFixture.start();
    const range = { minVersion: version, maxVersion: version };
    const { session } = await post(fixture.port, '/bind', { ...ada, ...range });
    const again = await post(fixture.port, '/bind', { ...range, ...(session !== undefined && { session }) });
    expect([again.status, again.isResumed]).toEqual([403, false]);
  });
});

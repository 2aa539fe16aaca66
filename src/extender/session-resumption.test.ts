import { type ConnectionOptions, connect } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { ada, authorityCert, localhost } from '../cluster/kubernetes/testing/certificates.ts';
import { makeCertificate } from '../io/tls/certificate.ts';
import { realClock } from '../runtime/clock.ts';
import { ExtenderFixture } from './testing/extender-fixture.ts';

const versions = ['TLSv1.2', 'TLSv1.3'] as const;
const { certificate, key } = makeCertificate(realClock.nowMs());

const clients: readonly (readonly [client: string, credentials: ConnectionOptions, status: number])[] = [
  ['no certificate', {}, 403],
  ['the certificate of another authority', { cert: certificate, key }, 403],
  ["a server's certificate of the authority", localhost, 403],
  // Authorized; the request fails because its body is invalid.
  ['a certificate of the authority', ada, 400],
];

interface Response {
  readonly status: number;
  readonly isResumed: boolean;
  readonly session: Buffer | undefined;
}

/** One request on a separate connection. */
function post(port: number, path: string, options: ConnectionOptions): Promise<Response> {
  return new Promise((resolve, reject) => {
    let text = '';
    let session: Buffer | undefined;
    let isResumed = false;
    const socket = connect({ port, host: '127.0.0.1', ca: authorityCert, ...options });
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('session', (received) => {
      session = received;
    });
    socket.once('secureConnect', () => {
      // A TLS 1.2 connection has a session from the start, and emits the event only for tickets.
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

describe.each(versions)(
  '%s: a client that offers its earlier session must present its certificate again:',
  (version) => {
    test.each(clients)('%s', async (_, credentials, status) => {
      await using fixture = await ExtenderFixture.start();
      const options = { ...credentials, minVersion: version, maxVersion: version };
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

    test('a session from a connection with a certificate authorizes no connection without one', async () => {
      await using fixture = await ExtenderFixture.start();
      const range = { minVersion: version, maxVersion: version };
      const { session } = await post(fixture.port, '/bind', { ...ada, ...range });
      const again = await post(fixture.port, '/bind', {
        ...range,
        ...(session !== undefined && { session }),
      });
      expect([again.status, again.isResumed]).toEqual([403, false]);
    });
  },
);

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isCertificateUsable, makeCertificate } from './certificate.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const dayMs = 86_400_000;

describe('a certificate', () => {
  const pair = makeCertificate(nowMs, ['node-1.example', '10.1.2.3', 'fe80::1:2', '::ffff:1.2.3.4']);
  const certificate = new X509Certificate(pair.certificate);

  test('is self-signed and matches its key', () => {
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(pair.key))).toBe(true);
    expect(certificate.ca).toBe(true);
  });

  test('is valid for ten years, also for a clock that is slightly behind', () => {
    expect(Date.parse(certificate.validFrom)).toBe(nowMs - dayMs);
    expect(Date.parse(certificate.validTo)).toBe(nowMs + 3650 * dayMs);
  });

  test.each(['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'node-1.example'])(
    'is valid for the host %s',
    (host) => {
      expect(certificate.checkHost(host)).toBe(host);
    },
  );

  test.each(['127.0.0.1', '::1', '10.1.2.3', 'fe80::1:2', '::ffff:1.2.3.4'])(
    'is valid for the address %s',
    (address) => {
      expect(certificate.checkIP(address)).toBe(address);
    },
  );

  test.each(['example.org', 'other.default.svc'])('is not valid for %s', (host) => {
    expect(certificate.checkHost(host)).toBeUndefined();
  });

  test('has a unique serial number', () => {
    expect(new X509Certificate(makeCertificate(nowMs).certificate).serialNumber).not.toBe(
      certificate.serialNumber,
    );
  });

  test('writes years after 2050 with four digits', () => {
    const late = new X509Certificate(makeCertificate(Date.parse('2045-01-01T00:00:00Z')).certificate);
    expect(new Date(late.validTo).getUTCFullYear()).toBe(2054);
  });
});

describe('a persisted pair', () => {
  const pair = makeCertificate(nowMs, ['node-1.example']);
  test.each([
    {
      name: 'is usable while it is valid',
      pair,
      atMs: nowMs + dayMs,
      hosts: ['node-1.example'],
      expected: true,
    },
    { name: 'is not usable in its last month', pair, atMs: nowMs + 3630 * dayMs, hosts: [], expected: false },
    { name: 'is not usable before its start', pair, atMs: nowMs - 2 * dayMs, hosts: [], expected: false },
    { name: 'is not usable with a new host', pair, atMs: nowMs, hosts: ['node-2.example'], expected: false },
    { name: 'is not usable with a new address', pair, atMs: nowMs, hosts: ['10.9.9.9'], expected: false },
    {
      name: 'is not usable if certificate and key do not match',
      pair: { ...pair, key: makeCertificate(nowMs).key },
      atMs: nowMs,
      hosts: [],
      expected: false,
    },
    {
      name: 'is not usable if it is unreadable',
      pair: { certificate: 'x', key: 'y' },
      atMs: nowMs,
      hosts: [],
      expected: false,
    },
  ])('$name', ({ pair: kept, atMs, hosts, expected }) => {
    expect(isCertificateUsable(kept, atMs, hosts)).toBe(expected);
  });
});

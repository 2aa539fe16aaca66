import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isCertificateUsable, makeCertificate } from './certificate.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const dayMs = 86_400_000;

describe('a certificate', () => {
  const pair = makeCertificate(nowMs, ['node-1.example', '10.1.2.3', 'fe80::1:2', '::ffff:1.2.3.4']);
  const certificate = new X509Certificate(pair.certificate);

  test('signs itself and belongs to its key', () => {
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(pair.key))).toBe(true);
    expect(certificate.ca).toBe(true);
  });

  test('lasts ten years, and is not from the future for a clock that is a little behind', () => {
    expect(Date.parse(certificate.validFrom)).toBe(nowMs - dayMs);
    expect(Date.parse(certificate.validTo)).toBe(nowMs + 3650 * dayMs);
  });

  test.each(['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'node-1.example'])(
    'names the host %s',
    (host) => {
      expect(certificate.checkHost(host)).toBe(host);
    },
  );

  test.each(['127.0.0.1', '::1', '10.1.2.3', 'fe80::1:2', '::ffff:1.2.3.4'])(
    'names the address %s',
    (address) => {
      expect(certificate.checkIP(address)).toBe(address);
    },
  );

  test.each(['example.org', 'other.default.svc'])('does not name %s', (host) => {
    expect(certificate.checkHost(host)).toBeUndefined();
  });

  test('has a serial number of its own', () => {
    expect(new X509Certificate(makeCertificate(nowMs).certificate).serialNumber).not.toBe(
      certificate.serialNumber,
    );
  });

  test('after 2050 writes its years with four digits', () => {
    const late = new X509Certificate(makeCertificate(Date.parse('2045-01-01T00:00:00Z')).certificate);
    expect(new Date(late.validTo).getUTCFullYear()).toBe(2054);
  });
});

describe('a kept pair', () => {
  const pair = makeCertificate(nowMs, ['node-1.example']);
  test.each([
    { name: 'serves while it lasts', pair, atMs: nowMs + dayMs, hosts: ['node-1.example'], expected: true },
    { name: 'is too old in its last month', pair, atMs: nowMs + 3630 * dayMs, hosts: [], expected: false },
    { name: 'is of no use before it begins', pair, atMs: nowMs - 2 * dayMs, hosts: [], expected: false },
    { name: 'lacks a host that is new', pair, atMs: nowMs, hosts: ['node-2.example'], expected: false },
    { name: 'lacks an address that is new', pair, atMs: nowMs, hosts: ['10.9.9.9'], expected: false },
    {
      name: 'does not belong together',
      pair: { ...pair, key: makeCertificate(nowMs).key },
      atMs: nowMs,
      hosts: [],
      expected: false,
    },
    { name: 'cannot be read', pair: { certificate: 'x', key: 'y' }, atMs: nowMs, hosts: [], expected: false },
  ])('$name', ({ pair: kept, atMs, hosts, expected }) => {
    expect(isCertificateUsable(kept, atMs, hosts)).toBe(expected);
  });
});

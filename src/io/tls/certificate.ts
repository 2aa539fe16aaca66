import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { parseIpAddress } from '../../kube/ip-address.ts';
import {
  bitString,
  boolean,
  context,
  type Der,
  integer,
  objectId,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from './der.ts';

/** A certificate and its key, both PEM. The certificate is self-signed; clients trust it as their CA. */
export interface TlsKeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Names under which programs in a cluster reach its API server. */
const standardHosts = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '127.0.0.1',
  '::1',
];

const dayMs = 86_400_000;
const lifetimeMs = 3650 * dayMs;
/** Clocks of machines differ; a certificate must not appear to be from the future. */
const backdateMs = dayMs;
/** A certificate is replaced if it expires within this time. */
const renewBeforeMs = 30 * dayMs;

const oids = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

/** Creates a P-256 key and a certificate for the standard names and `extraHosts`, valid for ten years. */
export function makeCertificate(nowMs: number, extraHosts: readonly string[] = []): TlsKeyPair {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' });
  const body = certificateBody(nowMs, publicKey, hostsOf(extraHosts));
  const signature = sign('sha256', body, pair.privateKey);
  const certificate = sequence(body, sequence(objectId(oids.ecdsaWithSha256)), bitString(signature));
  return {
    certificate: pem('CERTIFICATE', certificate),
    key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Whether a persisted pair is still usable: readable, matching, not about to expire, and valid for every host. */
export function isCertificateUsable(
  pair: TlsKeyPair,
  nowMs: number,
  extraHosts: readonly string[] = [],
): boolean {
  try {
    const certificate = new X509Certificate(pair.certificate);
    return (
      certificate.checkPrivateKey(createPrivateKey(pair.key)) &&
      Date.parse(certificate.validFrom) <= nowMs &&
      Date.parse(certificate.validTo) > nowMs + renewBeforeMs &&
      hostsOf(extraHosts).every((host) => names(certificate, host))
    );
  } catch {
    // Unreadable, so the caller creates a new pair.
    return false;
  }
}

function names(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
}

function hostsOf(extraHosts: readonly string[]): string[] {
  return [...new Set([...standardHosts, ...extraHosts])];
}

function certificateBody(nowMs: number, publicKey: Buffer, hosts: readonly string[]): Der {
  const name = sequence(
    set(sequence(objectId(oids.organization), utf8String('stowage'))),
    set(sequence(objectId(oids.commonName), utf8String('stowage embedded API server'))),
  );
  return sequence(
    context(0, integer(Buffer.of(2)), true), // X.509 version 3
    integer(randomBytes(16)),
    sequence(objectId(oids.ecdsaWithSha256)),
    name,
    sequence(time(nowMs - backdateMs), time(nowMs + lifetimeMs)),
    name,
    publicKey,
    context(3, extensions(publicKey, hosts), true),
  );
}

function extensions(publicKey: Buffer, hosts: readonly string[]): Der {
  const keyId = createHash('sha1').update(publicKey).digest();
  return sequence(
    extension(oids.basicConstraints, true, sequence(boolean(true))),
    // digitalSignature and keyCertSign: bits 0 and 5 of eight.
    extension(oids.keyUsage, true, bitString(Buffer.of(0b1000_0100), 2)),
    extension(oids.extendedKeyUsage, false, sequence(objectId(oids.serverAuth))),
    extension(oids.subjectKeyId, false, octetString(keyId)),
    extension(oids.subjectAltName, false, sequence(...hosts.map(alternativeName))),
  );
}

function extension(oid: string, isCritical: boolean, value: Der): Der {
  return sequence(objectId(oid), ...(isCritical ? [boolean(true)] : []), octetString(value));
}

function alternativeName(host: string): Der {
  const address = parseIpAddress(host);
  return typeof address === 'string'
    ? context(2, Buffer.from(host, 'ascii'), false)
    : context(7, Buffer.from(address.bytes), false);
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

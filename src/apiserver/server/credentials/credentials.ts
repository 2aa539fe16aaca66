import { join } from 'node:path';
import { readFileIfExists, writePrivateFile } from '../../../io/files/private-files.ts';
import { makeCertificate, type TlsKeyPair } from '../../../io/tls/certificate.ts';
import { type CertificateOptions, loadOrCreateKeyPair } from '../../../io/tls/persisted-certificate.ts';
import { isPlausibleAdminToken, makeAdminToken } from '../../access/bearer-token.ts';
import { isTokenKey, makeTokenKey } from '../../access/token-key.ts';

/** What the server proves itself with, and what clients prove themselves with. */
export interface ServerCredentials extends TlsKeyPair {
  readonly token: string;
  /** Signs the tokens of service accounts; PEM. */
  readonly tokenKey: string;
}

/** Those of the last start where they still serve, so that kubeconfigs outlive a restart; else new ones. */
export async function loadOrCreateCredentials(
  folder: string,
  options: CertificateOptions,
): Promise<ServerCredentials> {
  const pair = await loadOrCreateKeyPair(folder, options);
  return { ...pair, token: await loadOrCreateToken(folder), tokenKey: await loadOrCreateTokenKey(folder) };
}

/** For servers that keep nothing. */
export function createCredentials({ nowMs, extraHosts }: CertificateOptions): ServerCredentials {
  return { ...makeCertificate(nowMs, extraHosts), token: makeAdminToken(), tokenKey: makeTokenKey() };
}

async function loadOrCreateToken(folder: string): Promise<string> {
  const path = join(folder, 'token');
  const kept = (await readFileIfExists(path))?.trim();
  if (kept !== undefined && isPlausibleAdminToken(kept)) return kept;
  const token = makeAdminToken();
  await writePrivateFile(path, `${token}\n`);
  return token;
}

/** With another key, the tokens that were given out are worth nothing. */
async function loadOrCreateTokenKey(folder: string): Promise<string> {
  const path = join(folder, 'service-accounts.key');
  const kept = await readFileIfExists(path);
  if (kept !== undefined && isTokenKey(kept)) return kept;
  const key = makeTokenKey();
  await writePrivateFile(path, key);
  return key;
}

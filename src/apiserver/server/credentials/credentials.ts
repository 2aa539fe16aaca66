import { join } from 'node:path';
import { readFileIfExists, writePrivateFile } from '../../../io/files/private-files.ts';
import { makeCertificate, type TlsKeyPair } from '../../../io/tls/certificate.ts';
import { type CertificateOptions, loadOrCreateKeyPair } from '../../../io/tls/persisted-certificate.ts';
import { isPlausibleAdminToken, makeAdminToken } from '../../access/bearer-token.ts';
import { isTokenKey, makeTokenKey } from '../../access/token-key.ts';

/** The server's certificate and key, the admin's token, and the key that signs tokens of service accounts. */
export interface ServerCredentials extends TlsKeyPair {
  readonly token: string;
  /** Signs the tokens of service accounts; PEM. */
  readonly tokenKey: string;
}

/**
 * Loads the credentials of the last start, so that kubeconfigs stay valid across restarts. Creates those that are
 * missing or no longer usable.
 */
export async function loadOrCreateCredentials(
  folder: string,
  options: CertificateOptions,
): Promise<ServerCredentials> {
  const pair = await loadOrCreateKeyPair(folder, options);
  return { ...pair, token: await loadOrCreateToken(folder), tokenKey: await loadOrCreateTokenKey(folder) };
}

/** For servers without a data directory. */
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

/** A new key invalidates all tokens issued before. */
async function loadOrCreateTokenKey(folder: string): Promise<string> {
  const path = join(folder, 'service-accounts.key');
  const kept = await readFileIfExists(path);
  if (kept !== undefined && isTokenKey(kept)) return kept;
  const key = makeTokenKey();
  await writePrivateFile(path, key);
  return key;
}

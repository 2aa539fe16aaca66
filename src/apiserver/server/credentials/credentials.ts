import { join } from 'node:path';
import { readIfThere, writePrivateFile } from '../../../io/files/private-files.ts';
import { type KeyPair, makeCertificate } from '../../../io/tls/certificate.ts';
import { type CertificateOptions, keptPair } from '../../../io/tls/persisted-certificate.ts';
import { isPlausibleToken, makeToken } from '../../access/bearer-token.ts';
import { isTokenKey, makeTokenKey } from '../../access/token-key.ts';

/** What the server proves itself with, and what clients prove themselves with. */
export interface Credentials extends KeyPair {
  readonly token: string;
  /** Signs the tokens of service accounts; PEM. */
  readonly tokenKey: string;
}

/** Those of the last start where they still serve, so that kubeconfigs outlive a restart; else new ones. */
export async function keptCredentials(folder: string, options: CertificateOptions): Promise<Credentials> {
  const pair = await keptPair(folder, options);
  return { ...pair, token: await keptToken(folder), tokenKey: await keptTokenKey(folder) };
}

/** For servers that keep nothing. */
export function freshCredentials({ nowMs, extraHosts }: CertificateOptions): Credentials {
  return { ...makeCertificate(nowMs, extraHosts), token: makeToken(), tokenKey: makeTokenKey() };
}

async function keptToken(folder: string): Promise<string> {
  const path = join(folder, 'token');
  const kept = (await readIfThere(path))?.trim();
  if (kept !== undefined && isPlausibleToken(kept)) return kept;
  const token = makeToken();
  await writePrivateFile(path, `${token}\n`);
  return token;
}

/** With another key, the tokens that were given out are worth nothing. */
async function keptTokenKey(folder: string): Promise<string> {
  const path = join(folder, 'service-accounts.key');
  const kept = await readIfThere(path);
  if (kept !== undefined && isTokenKey(kept)) return kept;
  const key = makeTokenKey();
  await writePrivateFile(path, key);
  return key;
}

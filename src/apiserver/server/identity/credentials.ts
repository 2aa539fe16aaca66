import { join } from 'node:path';
import { isPlausibleToken, makeToken } from '../../access/bearer-token.ts';
import { isTokenKey, makeTokenKey } from '../../access/token-key.ts';
import { isUsable, type KeyPair, makeCertificate } from './certificate.ts';
import { readIfThere, writePrivateFile } from './private-files.ts';

/** What the server proves itself with, and what clients prove themselves with. */
export interface Credentials extends KeyPair {
  readonly token: string;
  /** Signs the tokens of service accounts; PEM. */
  readonly tokenKey: string;
}

export interface CredentialOptions {
  readonly nowMs: number;
  /** Names and addresses besides the standard ones under which clients reach the server. */
  readonly extraHosts?: readonly string[];
}

/** Those of the last start where they still serve, so that kubeconfigs outlive a restart; else new ones. */
export async function keptCredentials(folder: string, options: CredentialOptions): Promise<Credentials> {
  const pair = await keptPair(folder, options);
  return { ...pair, token: await keptToken(folder), tokenKey: await keptTokenKey(folder) };
}

/** For servers that keep nothing. */
export function freshCredentials({ nowMs, extraHosts }: CredentialOptions): Credentials {
  return { ...makeCertificate(nowMs, extraHosts), token: makeToken(), tokenKey: makeTokenKey() };
}

/** The certificate of the last start where it still serves, else a new one. */
export async function keptPair(folder: string, { nowMs, extraHosts }: CredentialOptions): Promise<KeyPair> {
  const [certificate, key] = await Promise.all([
    readIfThere(join(folder, 'tls.crt')),
    readIfThere(join(folder, 'tls.key')),
  ]);
  if (certificate !== undefined && key !== undefined && isUsable({ certificate, key }, nowMs, extraHosts)) {
    return { certificate, key };
  }
  const made = makeCertificate(nowMs, extraHosts);
  // The key first: a certificate without its key is remade at the next start, which the check of the pair sees to.
  await writePrivateFile(join(folder, 'tls.key'), made.key);
  await writePrivateFile(join(folder, 'tls.crt'), made.certificate);
  return made;
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

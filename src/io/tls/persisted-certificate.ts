import { join } from 'node:path';
import { readFileIfExists, writePrivateFile } from '../files/private-files.ts';
import { isCertificateUsable, makeCertificate, type TlsKeyPair } from './certificate.ts';

export interface CertificateOptions {
  readonly nowMs: number;
  /** Names and addresses besides the standard ones under which clients reach the server. */
  readonly extraHosts?: readonly string[];
}

/** The certificate of the last start where it still serves, else a new one. */
export async function loadOrCreateKeyPair(
  folder: string,
  { nowMs, extraHosts }: CertificateOptions,
): Promise<TlsKeyPair> {
  const [certificate, key] = await Promise.all([
    readFileIfExists(join(folder, 'tls.crt')),
    readFileIfExists(join(folder, 'tls.key')),
  ]);
  if (
    certificate !== undefined &&
    key !== undefined &&
    isCertificateUsable({ certificate, key }, nowMs, extraHosts)
  ) {
    return { certificate, key };
  }
  const made = makeCertificate(nowMs, extraHosts);
  // The key first: a certificate without its key is remade at the next start, which the check of the pair sees to.
  await writePrivateFile(join(folder, 'tls.key'), made.key);
  await writePrivateFile(join(folder, 'tls.crt'), made.certificate);
  return made;
}

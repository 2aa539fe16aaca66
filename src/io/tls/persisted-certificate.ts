import { join } from 'node:path';
import { readIfThere, writePrivateFile } from '../files/private-files.ts';
import { isUsable, type KeyPair, makeCertificate } from './certificate.ts';

export interface CertificateOptions {
  readonly nowMs: number;
  /** Names and addresses besides the standard ones under which clients reach the server. */
  readonly extraHosts?: readonly string[];
}

/** The certificate of the last start where it still serves, else a new one. */
export async function keptPair(folder: string, { nowMs, extraHosts }: CertificateOptions): Promise<KeyPair> {
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

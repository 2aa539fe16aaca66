import { join } from 'node:path';
import { readFileIfExists, writePrivateFile } from '../files/private-files.ts';
import { isCertificateUsable, makeCertificate, type TlsKeyPair } from './certificate.ts';

export interface CertificateOptions {
  readonly nowMs: number;
  /** Names and addresses for clients, besides the standard ones. */
  readonly extraHosts?: readonly string[];
}

/** Loads the certificate of the last start if it is still usable; otherwise creates and persists a new one. */
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
  // The key is written first. If the process stops in between, the pair does not match and is recreated at the next
  // start.
  await writePrivateFile(join(folder, 'tls.key'), made.key);
  await writePrivateFile(join(folder, 'tls.crt'), made.certificate);
  return made;
}

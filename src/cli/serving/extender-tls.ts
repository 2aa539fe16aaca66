import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { ExtenderTls } from '../../extender/extender-server.ts';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { makeDirectory } from '../../io/files/make-directory.ts';
import type { TlsKeyPair } from '../../io/tls/certificate.ts';
import { loadOrCreateKeyPair } from '../../io/tls/persisted-certificate.ts';
import { realClock } from '../../runtime/clock.ts';
import { CliError, usage } from '../errors/cli-error.ts';

export interface TlsFlags {
  readonly data: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** One value for each use of the flag. */
  readonly tlsHost: readonly string[];
  readonly clientCa?: string;
  readonly insecure?: true;
}

/** The extender's certificate, and the authority that clients need; undefined for plain HTTP. Everything in it has been checked. */
export async function tlsOf(flags: TlsFlags, host: string | undefined): Promise<ExtenderTls | undefined> {
  const { insecure, tlsCert, tlsKey, clientCa } = flags;
  if (insecure) {
    if (tlsCert !== undefined || tlsKey !== undefined || clientCa !== undefined)
      throw usage('--insecure: must not be combined with --tls-cert, --tls-key or --client-ca');
    return undefined;
  }
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw usage('--tls-cert and --tls-key: give both or neither');
  const clientAuthority = clientCa === undefined ? undefined : await authorityOf(clientCa);
  const pair =
    tlsCert === undefined || tlsKey === undefined
      ? await ownPair(flags, host)
      : await givenPair(tlsCert, tlsKey);
  return { ...pair, clientAuthority };
}

/** The path of the self-signed certificate, which clients must trust. */
export function ownCertificatePath({ data }: Pick<TlsFlags, 'data'>): string {
  return join(resolve(data), 'tls.crt');
}

// ── Given files ──

/** OpenSSL ignores what is not a certificate, and then every client would be rejected. */
async function authorityOf(path: string): Promise<string> {
  const pem = await fileOf('--client-ca', path);
  const remedy =
    "give the certificate, in PEM, of the authority that signs kube-scheduler's client certificate";
  const certificates = pem
    .split(/(?=-----BEGIN (?:X509 )?CERTIFICATE-----)/)
    .filter((part) => part.includes('CERTIFICATE-----'));
  if (certificates.length === 0) throw new CliError(`--client-ca: ${path} holds no certificate; ${remedy}`);
  for (const certificate of certificates) {
    const problem = `--client-ca: ${path} holds a certificate that cannot be read`;
    attempt(problem, remedy, () => new X509Certificate(certificate));
  }
  attempt(`--client-ca: ${path} cannot be used`, remedy, () => createSecureContext({ ca: pem }));
  return pem;
}

/** The flags that name the files, for messages. */
const tlsFlagNames = { certificate: '--tls-cert', key: '--tls-key' };

/** A certificate and its key from files, checked. */
export async function givenPair(
  certificatePath: string,
  keyPath: string,
  flags: typeof tlsFlagNames = tlsFlagNames,
): Promise<TlsKeyPair> {
  const certificate = await fileOf(flags.certificate, certificatePath);
  const key = await fileOf(flags.key, keyPath);
  const read = attempt(
    `${flags.certificate}: ${certificatePath} holds no certificate that can be read`,
    'give one in PEM, those that have signed it behind it',
    () => new X509Certificate(certificate),
  );
  const readKey: KeyObject = attempt(
    `${flags.key}: ${keyPath} holds no private key that can be read`,
    `give that of ${certificatePath}, in PEM and without a passphrase`,
    () => createPrivateKey(key),
  );
  if (!read.checkPrivateKey(readKey))
    throw new CliError(
      `${flags.key}: ${keyPath} is not the key of ${certificatePath}; give the two that belong together`,
    );
  attempt(`${flags.certificate}: ${certificatePath} cannot be used`, 'give another certificate', () =>
    createSecureContext({ cert: certificate, key }),
  );
  return { certificate, key };
}

function attempt<T>(problem: string, remedy: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CliError(`${problem}: ${(error as Error).message}; ${remedy}`, 1, { cause: error });
  }
}

async function fileOf(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CliError(`${flag}: cannot read ${path}: ${(error as Error).message}`, 1, { cause: error });
  }
}

// ── The self-signed certificate ──

async function ownPair({ data, tlsHost }: TlsFlags, host: string | undefined): Promise<TlsKeyPair> {
  if (data === '') throw usage('--data: give a directory');
  const isAnywhere = host === undefined || host === '0.0.0.0' || host === '::';
  const extraHosts = [...tlsHost, ...(isAnywhere || isIP(host) === 0 ? [] : [host])];
  const folder = resolve(data);
  try {
    // Others have to read the certificate: kube-scheduler may run as another user. The key stays its owner's.
    if (makeDirectory(folder)) {
      await chmod(folder, 0o755);
      await writeFile(join(folder, '.gitignore'), '*\n');
    }
    const pair = await loadOrCreateKeyPair(folder, { nowMs: realClock.nowMs(), extraHosts });
    const path = ownCertificatePath({ data });
    if (((await stat(path)).mode & 0o444) !== 0o444) await chmod(path, 0o644);
    return pair;
  } catch (error) {
    throw new CliError(
      `--data: ${folder} cannot keep the certificate: ${fileSystemReason(error)}; choose another directory, or give --tls-cert and --tls-key`,
      1,
      { cause: error },
    );
  }
}

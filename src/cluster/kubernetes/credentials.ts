import { readFile } from 'node:fs/promises';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/error-message.ts';
import {
  ConnectionSettingsError,
  type ExecSettings,
  type FileOrData,
  type ImpersonationSettings,
  type UserSettings,
} from './connection-settings.ts';
import { runExecPlugin } from './exec-plugin.ts';

/** How old data read from files may get. The kubelet renews tokens long before they expire. */
const rereadMs = 60_000;

/** The credential of one request. The same object as long as nothing changes. */
export interface Credential {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly certificate?: Certificate;
}

export interface Certificate {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Credentials over time. Requests use the `current` one, and report when the server `refused` it. */
export interface Credentials {
  current(): Promise<Credential>;
  /** True if there is a new credential, so that a retry makes sense. */
  refused(credential: Credential): Promise<boolean>;
}

export function credentialsOf(
  user: UserSettings,
  { env, clock }: { readonly env: NodeJS.ProcessEnv; readonly clock: Clock },
): Credentials {
  const extra = impersonationHeaders(user.impersonate);
  // A plugin is used only if the user has no other credential.
  const hasOwn = Boolean(user.token || user.tokenFile || user.username || user.clientCertificate);
  if (user.exec !== undefined && !hasOwn)
    return new RenewedCredentials(pluginSource(user.exec, extra, { env, clock }), clock);
  const usesFiles = user.tokenFile !== undefined || user.clientCertificate?.kind === 'file';
  return new RenewedCredentials(fileSource(user, extra, usesFiles ? rereadMs : undefined), clock);
}

/** A credential, and how long it is valid. */
interface Issued {
  readonly credential: Credential;
  /** Valid until then on the monotonic clock, after which the source is read again. */
  readonly renewAfterMs?: number;
  /** Expires then on the wall clock. */
  readonly expiresMs?: number;
  /** If the source cannot be read, the old credential stays in use. */
  readonly isKeptOnError?: boolean;
}

type Source = () => Promise<Issued>;

class RenewedCredentials implements Credentials {
  readonly #source: Source;
  readonly #clock: Clock;
  #issued: Issued | undefined;
  #issuedMs = 0;
  #renewing: Promise<Credential> | undefined;

  constructor(source: Source, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  async current(): Promise<Credential> {
    if (this.#issued !== undefined && !this.#isStale(this.#issued)) return this.#issued.credential;
    return await this.#renew();
  }

  async refused(credential: Credential): Promise<boolean> {
    if (this.#issued?.credential !== credential) return true;
    return (await this.#renew()) !== credential;
  }

  #isStale({ renewAfterMs, expiresMs }: Issued): boolean {
    if (expiresMs !== undefined && this.#clock.nowMs() >= expiresMs) return true;
    return renewAfterMs !== undefined && this.#clock.monotonicMs() - this.#issuedMs >= renewAfterMs;
  }

  /** One at a time: a plugin may call a server, or require the touch of a key. */
  #renew(): Promise<Credential> {
    this.#renewing ??= this.#issue().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #issue(): Promise<Credential> {
    const old = this.#issued;
    const issued = await this.#source().catch((error: unknown) => {
      if (old?.isKeptOnError) return old;
      throw error;
    });
    const isSame = old !== undefined && isEqual(old.credential, issued.credential);
    this.#issued = isSame ? { ...issued, credential: old.credential } : issued;
    this.#issuedMs = this.#clock.monotonicMs();
    return this.#issued.credential;
  }
}

function isEqual(left: Credential, right: Credential): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function fileSource(
  user: UserSettings,
  extra: Credential['headers'],
  renewAfterMs: number | undefined,
): Source {
  return async () => {
    const token = user.tokenFile === undefined ? user.token : await readToken(user.tokenFile);
    const certificate = await readCertificate(user);
    const authorization = token !== undefined ? `Bearer ${token}` : basicAuthorization(user);
    return {
      credential: {
        headers: { ...extra, ...(authorization === undefined ? {} : { authorization }) },
        ...(certificate === undefined ? {} : { certificate }),
      },
      ...(renewAfterMs === undefined ? {} : { renewAfterMs }),
      isKeptOnError: true,
    };
  };
}

function pluginSource(
  exec: ExecSettings,
  extra: Credential['headers'],
  { env, clock }: { readonly env: NodeJS.ProcessEnv; readonly clock: Clock },
): Source {
  return async () => {
    const { token, certificate, expiresMs } = await runExecPlugin(exec, env, clock);
    return {
      credential: {
        headers: { ...extra, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
        ...(certificate === undefined ? {} : { certificate }),
      },
      ...(expiresMs === undefined ? {} : { expiresMs }),
    };
  };
}

function basicAuthorization({ username, password }: UserSettings): string | undefined {
  if (username === undefined && password === undefined) return undefined;
  return `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}`;
}

async function readToken(path: string): Promise<string> {
  const token = (await readNamed(path, 'the token file')).toString('utf8').trim();
  if (token === '') throw new ConnectionSettingsError(`the token file ${path} is empty`);
  return token;
}

async function readCertificate(user: UserSettings): Promise<Certificate | undefined> {
  const { clientCertificate, clientKey } = user;
  if (clientCertificate === undefined) return undefined;
  if (clientKey === undefined)
    throw new ConnectionSettingsError('client-certificate is set, but client-key is not');
  const cert = await readFileOrData(clientCertificate, 'the client certificate');
  return { cert, key: await readFileOrData(clientKey, 'the client key') };
}

export async function readFileOrData(source: FileOrData, what: string): Promise<Buffer> {
  return source.kind === 'data' ? source.bytes : await readNamed(source.path, what);
}

async function readNamed(path: string, what: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const why = messageOf(cause);
    throw new ConnectionSettingsError(`${what} ${path} cannot be read: ${why}`, { cause });
  }
}

function impersonationHeaders(as: ImpersonationSettings | undefined): Credential['headers'] {
  if (as === undefined) return {};
  const extra = Object.entries(as.extra).map(([key, values]) => [
    `impersonate-extra-${encodeURIComponent(key)}`,
    values,
  ]);
  return {
    'impersonate-user': as.user,
    ...(as.uid === undefined ? {} : { 'impersonate-uid': as.uid }),
    ...(as.groups.length === 0 ? {} : { 'impersonate-group': as.groups }),
    ...Object.fromEntries(extra),
  };
}

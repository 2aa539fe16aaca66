import { spawn } from 'node:child_process';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { isRecord } from '../../kube/wire.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ConnectionSettingsError, type ExecSettings } from './connection-settings.ts';

/** Plugins may call a server, or a device; none needs longer. */
const pluginTimeoutMs = 60_000;
const outputBytesMax = 1024 * 1024;
const apiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

export interface PluginCredential {
  readonly token?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Wall-clock time; undefined: valid until refused. */
  readonly expiresMs?: number;
}

/** Runs a credential plugin once. It never prompts the user, since there may be none. */
export async function runExecPlugin(
  settings: ExecSettings,
  env: NodeJS.ProcessEnv,
  clock: Clock,
): Promise<PluginCredential> {
  const { apiVersion, command, interactiveMode, clusterInfo } = settings;
  if (!apiVersions.includes(apiVersion))
    throw new ConnectionSettingsError(
      `the exec plugin ${command} uses ${apiVersion}, but stowage supports ${apiVersions.join(' and ')}`,
    );
  if (interactiveMode === 'Always')
    throw new ConnectionSettingsError(
      `the exec plugin ${command} needs to prompt the user, but there is no terminal; log in another way`,
    );
  const spec = { interactive: false, ...(clusterInfo === undefined ? {} : { cluster: clusterInfo }) };
  const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
  const output = await runCommand(settings, { ...env, ...settings.env, KUBERNETES_EXEC_INFO: info }, clock);
  return parseCredential(output, settings);
}

function runCommand(settings: ExecSettings, env: NodeJS.ProcessEnv, clock: Clock): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(settings.command, settings.args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = new BoundedText(outputBytesMax);
    const errorOutput = new BoundedText(outputBytesMax);
    let isLate = false;
    const timer = clock.after(pluginTimeoutMs, () => {
      isLate = true;
      child.kill('SIGKILL');
    });
    child.stdout.on('data', (chunk: Buffer) => output.add(chunk));
    child.stderr.on('data', (chunk: Buffer) => errorOutput.add(chunk));
    child.on('error', (cause) => {
      timer.cancel();
      reject(new ConnectionSettingsError(notStarted(settings, cause), { cause }));
    });
    child.on('close', (code, killSignal) => {
      timer.cancel();
      if (code === 0) resolve(output.text());
      const how = isLate
        ? `took longer than ${pluginTimeoutMs / 1000} s`
        : `failed with ${killSignal ?? code}`;
      const why = errorOutput.text().trim();
      reject(
        new ConnectionSettingsError(
          `the exec plugin ${settings.command} ${how}${why === '' ? '' : `: ${why}`}`,
        ),
      );
    });
  });
}

function notStarted({ command, installHint }: ExecSettings, cause: Error): string {
  const isMissing = isRecord(cause) && cause.code === 'ENOENT';
  const what = isMissing ? 'was not found; install it to log in' : `could not be started: ${cause.message}`;
  return `the exec plugin ${command} ${what}${installHint === undefined ? '' : `\n\n${installHint}`}`;
}

function parseCredential(output: string, { command, apiVersion }: ExecSettings): PluginCredential {
  const pluginError = (what: string) => new ConnectionSettingsError(`the exec plugin ${command} ${what}`);
  const credential = parseJson(output);
  if (!isRecord(credential) || credential.kind !== 'ExecCredential')
    throw pluginError('did not print an ExecCredential');
  if (credential.apiVersion !== apiVersion)
    throw pluginError(`should use ${apiVersion}, but printed ${String(credential.apiVersion)}`);
  const status = isRecord(credential.status) ? credential.status : {};
  const token = textOrUndefined(status.token);
  const cert = textOrUndefined(status.clientCertificateData);
  const key = textOrUndefined(status.clientKeyData);
  if ((cert === undefined) !== (key === undefined))
    throw pluginError('printed only one of clientCertificateData and clientKeyData');
  if (token === undefined && cert === undefined)
    throw pluginError('printed neither a token nor a certificate');
  const expiresMs = parseTimestamp(status.expirationTimestamp);
  return {
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    ...(expiresMs === undefined ? {} : { expiresMs }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports it, without the text: it may contain a secret.
    return undefined;
  }
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Keeps the beginning. */
class BoundedText {
  readonly #chunks: Buffer[] = [];
  #roomBytes: number;

  constructor(bytesMax: number) {
    this.#roomBytes = bytesMax;
  }

  add(chunk: Buffer): void {
    if (this.#roomBytes <= 0) return;
    this.#chunks.push(chunk.subarray(0, this.#roomBytes));
    this.#roomBytes -= chunk.length;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { readYaml } from '../../io/yaml/yaml-reader.ts';
import { isRecord, listOf } from '../../kube/wire.ts';
import { messageOf } from '../../runtime/error-message.ts';
import {
  type ConnectionSettings,
  ConnectionSettingsError,
  type ExecSettings,
  type FileOrData,
  type ImpersonationSettings,
  type UserSettings,
} from './connection-settings.ts';

export interface KubeconfigOptions {
  /** Earlier files win. Missing files are skipped. */
  readonly paths: readonly string[];
  /** The context to use instead of the current one. */
  readonly context?: string | undefined;
}

/** Where kubectl would look: $KUBECONFIG, a list, else ~/.kube/config. */
export function kubeconfigPaths(env: NodeJS.ProcessEnv): readonly string[] {
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  return listed.length > 0 ? [...new Set(listed)] : [join(env.HOME ?? homedir(), '.kube', 'config')];
}

/** The settings of the context; undefined if none of the files exists. */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<ConnectionSettings | undefined> {
  const files: KubeconfigFile[] = [];
  for (const path of options.paths) {
    const file = await readKubeconfig(path);
    if (file !== undefined) files.push(file);
  }
  return files.length === 0 ? undefined : selectContext(files, options.context);
}

interface KubeconfigFile {
  readonly path: string;
  readonly content: Wire;
}

type Wire = Readonly<Record<string, unknown>>;

async function readKubeconfig(path: string): Promise<KubeconfigFile | undefined> {
  try {
    const content = readYaml(await readFile(path, 'utf8')).value;
    if (content === null) return { path, content: {} };
    if (isRecord(content)) return { path, content };
  } catch (cause) {
    if (isRecord(cause) && cause.code === 'ENOENT') return undefined;
    throw new ConnectionSettingsError(`${path} cannot be read as a kubeconfig: ${messageOf(cause)}`, {
      cause,
    });
  }
  throw new ConnectionSettingsError(
    `${path} is not a kubeconfig: it should be a YAML object with clusters, users and contexts`,
  );
}

function selectContext(files: readonly KubeconfigFile[], wanted: string | undefined): ConnectionSettings {
  const where = files.map(({ path }) => path).join(', ');
  const current = files
    .map(({ content }) => text(content['current-context']))
    .find((name) => name !== undefined);
  const name = wanted ?? current;
  if (name === undefined)
    throw new ConnectionSettingsError(`${where}: current-context is not set; set it, or name a context`);
  const context = findNamed(files, 'contexts', 'context', name);
  const clusterName = text(context.value.cluster) ?? '';
  const cluster = findNamed(files, 'clusters', 'cluster', clusterName);
  const userName = text(context.value.user);
  const user = userName === undefined ? undefined : findNamed(files, 'users', 'user', userName);
  const namespace = text(context.value.namespace);
  const settings = clusterSettings(cluster);
  return {
    source: `context "${name}" of ${context.path}`,
    ...settings,
    ...(namespace === undefined ? {} : { namespace }),
    user: user === undefined ? {} : userSettings(user, cluster),
  };
}

interface Named {
  readonly name: string;
  /** The file that contains the entry; relative paths start there. */
  readonly path: string;
  readonly value: Wire;
}

/** The first file that has the name wins, with the whole entry. */
function findNamed(files: readonly KubeconfigFile[], list: string, kind: string, name: string): Named {
  const known: string[] = [];
  for (const { path, content } of files) {
    for (const entry of listOf(content[list] as readonly unknown[])) {
      if (!isRecord(entry)) continue;
      if (entry.name === name && isRecord(entry[kind])) return { name, path, value: entry[kind] };
      known.push(String(entry.name));
    }
  }
  const where = files.map(({ path }) => path).join(', ');
  const there = known.length === 0 ? `there are no ${list}` : `there are ${known.join(', ')}`;
  throw new ConnectionSettingsError(`${where}: there is no ${kind} named "${name}"; ${there}`);
}

function clusterSettings(named: Named) {
  const { value, path, name } = named;
  const server = text(value.server);
  if (server === undefined) throw new ConnectionSettingsError(`${path}: cluster "${name}" has no server`);
  const certificateAuthority = fileOrData(named, 'certificate-authority');
  if (certificateAuthority !== undefined && value['insecure-skip-tls-verify'] === true)
    throw new ConnectionSettingsError(
      `${path}: cluster "${name}" has both certificate-authority and insecure-skip-tls-verify; remove one`,
    );
  const tlsServerName = text(value['tls-server-name']);
  const proxyUrl = text(value['proxy-url']);
  return {
    server,
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    ...(value['insecure-skip-tls-verify'] === true ? { insecureSkipTlsVerify: true } : {}),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  };
}

function userSettings(named: Named, cluster: Named): UserSettings {
  const { value, path, name } = named;
  if (isRecord(value['auth-provider'])) {
    throw new ConnectionSettingsError(
      `${path}: user "${name}" has an auth-provider (${String(value['auth-provider'].name)}), which Kubernetes has removed; ` +
        'use an exec plugin instead, such as gke-gcloud-auth-plugin or kubelogin',
    );
  }
  const clientCertificate = fileOrData(named, 'client-certificate');
  const clientKey = fileOrData(named, 'client-key');
  const tokenFile = text(value.tokenFile);
  const exec = isRecord(value.exec) ? execSettings(value.exec, named, cluster) : undefined;
  const impersonate = impersonation(value);
  const plain = pick(value, ['token', 'username', 'password']);
  return {
    ...plain,
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(clientKey === undefined ? {} : { clientKey }),
    ...(tokenFile === undefined ? {} : { tokenFile: fromFile(path, tokenFile) }),
    ...(exec === undefined ? {} : { exec }),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
}

function execSettings(exec: Wire, { path, name }: Named, cluster: Named): ExecSettings {
  const command = text(exec.command);
  const apiVersion = text(exec.apiVersion);
  if (command === undefined || apiVersion === undefined)
    throw new ConnectionSettingsError(`${path}: the exec of user "${name}" needs apiVersion and command`);
  const installHint = text(exec.installHint);
  const env = listOf(exec.env as readonly unknown[]).filter(isRecord);
  const mode = text(exec.interactiveMode);
  return {
    apiVersion,
    // Like a shell: a name is looked up, a path is relative to the file.
    command: command.includes('/') ? fromFile(path, command) : command,
    args: listOf(exec.args as readonly unknown[]).map(String),
    env: Object.fromEntries(env.map((entry) => [String(entry.name), String(entry.value ?? '')])),
    interactiveMode: mode === 'Never' || mode === 'Always' ? mode : 'IfAvailable',
    ...(installHint === undefined ? {} : { installHint: withoutEscapes(installHint) }),
    ...(exec.provideClusterInfo === true ? { clusterInfo: clusterInfo(cluster) } : {}),
  };
}

/** The cluster as plugins see it; the kubeconfig has an extension with a reserved name for them. */
function clusterInfo({ value }: Named): object {
  const extensions = listOf(value.extensions as readonly unknown[]).filter(isRecord);
  const own = extensions.find(({ name }) => name === 'client.authentication.k8s.io/exec');
  const keys = [
    'server',
    'tls-server-name',
    'insecure-skip-tls-verify',
    'certificate-authority-data',
    'proxy-url',
  ];
  const settings = keys.filter((key) => value[key] !== undefined).map((key) => [key, value[key]]);
  return { ...Object.fromEntries(settings), ...(own === undefined ? {} : { config: own.extension }) };
}

function impersonation(user: Wire): ImpersonationSettings | undefined {
  const name = text(user.as);
  if (name === undefined) return undefined;
  const uid = text(user['as-uid']);
  const extra = isRecord(user['as-user-extra']) ? user['as-user-extra'] : {};
  return {
    user: name,
    ...(uid === undefined ? {} : { uid }),
    groups: listOf(user['as-groups'] as readonly unknown[]).map(String),
    extra: Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [key, listOf(values as readonly unknown[]).map(String)]),
    ),
  };
}

/** `<key>-data` in base64 takes precedence over the file that `<key>` names. */
function fileOrData({ value, path, name }: Named, key: string): FileOrData | undefined {
  const data = text(value[`${key}-data`]);
  if (data !== undefined) {
    const bytes = Buffer.from(data, 'base64');
    if (!bytes.includes('-----BEGIN'))
      throw new ConnectionSettingsError(`${path}: ${key}-data of "${name}" is not a PEM text in base64`);
    return { kind: 'data', bytes };
  }
  const file = text(value[key]);
  return file === undefined ? undefined : { kind: 'file', path: fromFile(path, file) };
}

function fromFile(kubeconfig: string, path: string): string {
  return isAbsolute(path) ? path : resolve(dirname(kubeconfig), path);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function pick(value: Wire, keys: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const found = text(value[key]);
      return found === undefined ? [] : [[key, found]];
    }),
  );
}

/** It is printed to a terminal, so a kubeconfig must not be able to send control sequences. */
function withoutEscapes(hint: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
  return hint.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}

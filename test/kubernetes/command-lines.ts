import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';

/** The program, arguments and environment of a process. */
export interface CommandLine {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Files of a test bed, all in its data folder. */
export interface BedFiles {
  readonly folder: string;
  readonly certificate: string;
  readonly certificateKey: string;
  readonly serviceAccountKey: string;
  readonly tokens: string;
}

export function bedFiles(folder: string): BedFiles {
  return {
    folder,
    certificate: join(folder, 'apiserver.crt'),
    certificateKey: join(folder, 'apiserver.key'),
    serviceAccountKey: join(folder, 'service-accounts.key'),
    tokens: join(folder, 'tokens.csv'),
  };
}

export function etcdCommand(
  program: string,
  files: BedFiles,
  ports: EtcdPorts,
  isDurable = false,
): CommandLine {
  const clientUrl = `http://127.0.0.1:${ports.client}`;
  const peerUrl = `http://127.0.0.1:${ports.peer}`;
  const flags = {
    'data-dir': join(files.folder, 'etcd'),
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
    // The data of a test need not survive a crash of the machine.
    ...(isDurable ? {} : { 'unsafe-no-fsync': true }),
  };
  return commandLine(program, flags, files);
}

export interface EtcdPorts {
  readonly client: number;
  readonly peer: number;
}

/** These need a controller or a kubelet that most test beds do not run. */
const admissionOffDefault = ['ServiceAccount', 'TaintNodesByCondition'];

export interface ApiServerSettings {
  readonly port: number;
  readonly etcdPort: number;
  /** `full`: the default of a cluster. `without-kubelet`, the default here: pods need no service account, new nodes are not tainted. */
  readonly admission?: 'full' | 'without-kubelet';
  readonly extraFlags?: Flags;
}

export function apiServerCommand(program: string, files: BedFiles, settings: ApiServerSettings): CommandLine {
  const { port, etcdPort, admission = 'without-kubelet', extraFlags = {} } = settings;
  const flags = {
    'etcd-servers': `http://127.0.0.1:${etcdPort}`,
    'bind-address': '127.0.0.1',
    'secure-port': port,
    // Otherwise it needs a default route, which a machine without a network lacks. No client connects to this address.
    'advertise-address': '192.0.2.1',
    'tls-cert-file': files.certificate,
    'tls-private-key-file': files.certificateKey,
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': files.serviceAccountKey,
    'service-account-signing-key-file': files.serviceAccountKey,
    'token-auth-file': files.tokens,
    'authorization-mode': 'RBAC',
    'service-cluster-ip-range': '10.96.0.0/16',
    'allow-privileged': true,
    ...(admission === 'full' ? {} : { 'disable-admission-plugins': admissionOffDefault.join(',') }),
    ...extraFlags,
  };
  return commandLine(program, flags, files);
}

export interface ComponentSettings {
  readonly kubeconfig: string;
  readonly leaderElect?: boolean;
  readonly extraFlags?: Flags;
}

export function schedulerCommand(program: string, files: BedFiles, settings: ComponentSettings): CommandLine {
  return commandLine(program, componentFlags(settings), files);
}

export interface ControllerManagerSettings extends ComponentSettings {
  /** The value of `--controllers`; by default all controllers that are on by default. */
  readonly controllers?: readonly string[];
}

export function controllerManagerCommand(
  program: string,
  files: BedFiles,
  settings: ControllerManagerSettings,
): CommandLine {
  const { controllers = ['*'], ...rest } = settings;
  const flags = {
    controllers: controllers.join(','),
    'service-account-private-key-file': files.serviceAccountKey,
    'root-ca-file': files.certificate,
    // The default of 15 s is too slow for a test.
    'pvclaimbinder-sync-period': '1s',
    ...componentFlags(rest),
  };
  return commandLine(program, flags, files);
}

function componentFlags({ kubeconfig, leaderElect = false, extraFlags = {} }: ComponentSettings): Flags {
  // No port: no client reads it, and it could cause a conflict.
  return { kubeconfig, 'leader-elect': leaderElect, 'secure-port': 0, ...extraFlags };
}

export function kwokCommand(
  program: string,
  files: BedFiles,
  { kubeconfig }: ComponentSettings,
): CommandLine {
  const flags = {
    kubeconfig,
    config: join(projectRoot, 'test/kubernetes/kwok-stages.yaml'),
    'manage-all-nodes': true,
    'node-lease-duration-seconds': 40,
  };
  return commandLine(program, flags, files);
}

/** Our own API server as users run it, without controllers. */
export function stowageCommand(
  program: string,
  files: BedFiles,
  settings: { readonly kubeconfig: string; readonly controllers: string },
): CommandLine {
  const flags = {
    data: join(files.folder, 'stowage'),
    port: 0,
    ...settings,
  };
  const { args, env } = commandLine('', flags, files);
  return { program: process.execPath, args: [program, 'up', ...args], env };
}

export type Flags = Readonly<Record<string, string | number | boolean>>;

function commandLine(program: string, flags: Flags, { folder }: BedFiles): CommandLine {
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  // Without the settings of the user who runs the tests; caches go into the removed folder.
  return { program, args, env: { PATH: process.env.PATH ?? '', HOME: folder } };
}

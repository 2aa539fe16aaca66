/**
 * The library `stowage/apiserver`: a Kubernetes API server inside a JavaScript or TypeScript program, for tests above all.
 *
 * ```ts
 * await using server = await startApiServer({ controllers: '*' });
 * const config = new KubeConfig();                      // of @kubernetes/client-node
 * config.loadFromString(server.kubeconfig);
 * ```
 *
 * Any Kubernetes client can use the server by its kubeconfig; `cluster` is a client without HTTP.
 */
import type { Cluster } from '../cluster/cluster.ts';
import { selectControllers } from '../controllers/controller-names.ts';
import { silentLog } from '../runtime/log.ts';
import { EmbeddedControlPlane } from './embedded-control-plane.ts';

export type { Cluster, ResourceClient } from '../cluster/cluster.ts';
export { ApiError } from '../kube/api-error.ts';
export * as resources from '../kube/resources.ts';

export interface ApiServerOptions {
  /**
   * Keeps the data in this directory; a later start with the same directory continues with it. Without it, all data is in memory. The
   * start fails if every user of the machine may write to the directory, or may read or write the credentials in it.
   */
  readonly dataDirectory?: string;
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** The port to listen on; 0, the default, picks a free one. */
  readonly port?: number;
  /**
   * The controllers to run, as for `stowage up --controllers`: names separated by commas, `*` for all, `-name` for all but that one.
   * `none` by default: then objects stay as they are written.
   */
  readonly controllers?: string;
  /** `spec.schedulerName` of the pods that controller `scheduler` places; `stowage` and `default-scheduler` by default. */
  readonly schedulerNames?: readonly string[];
  /** Called with errors and warnings of the server and its controllers, which keep running. By default they are dropped. */
  readonly onError?: (error: unknown, where: string) => void;
}

/** A running API server. `await using` closes it at the end of the block. */
export interface RunningApiServer extends AsyncDisposable {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** A kubeconfig with the server's address, its certificate and an administrator's token. */
  readonly kubeconfig: string;
  /** The certificate by which clients recognize the server, in PEM. */
  readonly certificate: string;
  /** A client that reaches the server without HTTP. */
  readonly cluster: Cluster;
  writeKubeconfig(path: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts an API server and controllers. Resolves when the server answers and every controller has read the cluster. Rejects with a TypeError
 * if an option is unknown: a misspelled `dataDirectory` would keep the data in memory, and nothing would show it.
 */
export async function startApiServer(options: ApiServerOptions = {}): Promise<RunningApiServer> {
  refuseUnknown(options);
  const { dataDirectory, host, port, controllers = 'none', schedulerNames, onError = () => {} } = options;
  const selected = selectControllers(controllers);
  if (!selected.ok) throw new TypeError(`options.controllers: ${selected.problem}`);
  const report = (where: string, fields?: { readonly error?: unknown }): void =>
    onError(fields?.error ?? new Error(where), where);
  const plane = await EmbeddedControlPlane.start({
    dataDirectory,
    host,
    port,
    controllers: selected.names,
    settings: schedulerNames === undefined ? {} : { schedulerNames },
    log: { ...silentLog, warn: report, error: report },
  });
  await plane.ready(new AbortController().signal);
  return runningServer(plane);
}

/** As an object, so that the compiler finds an option that is missing here. */
const knownOptions: Readonly<Record<keyof ApiServerOptions, true>> = {
  dataDirectory: true,
  host: true,
  port: true,
  controllers: true,
  schedulerNames: true,
  onError: true,
};

function refuseUnknown(options: object): void {
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(knownOptions, name));
  if (unknown.length === 0) return;
  const names = unknown.map((name) => `options.${name}`).join(', ');
  throw new TypeError(
    `${names}: startApiServer has no such option; use ${Object.keys(knownOptions).join(', ')}`,
  );
}

function runningServer(plane: EmbeddedControlPlane): RunningApiServer {
  const { server, cluster } = plane;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= plane.close());
  return {
    url: server.url,
    kubeconfig: server.kubeconfig,
    certificate: server.certificate,
    cluster,
    writeKubeconfig: (path) => server.writeKubeconfig(path),
    close,
    [Symbol.asyncDispose]: close,
  };
}

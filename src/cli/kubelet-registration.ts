import { CsiAddressError, socketPathOf } from '../csi/csi-address.ts';
import type { CsiServer } from '../csi/csi-server.ts';
import { registerWithKubelet } from '../csi/registration/kubelet-registration.ts';
import { CsiSocketError } from '../csi/server-socket.ts';
import { drivesDriver } from '../kube/stowage/drive.ts';
import { realClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { CliError, usage } from './cli-error.ts';

export interface KubeletRegistrationFlags {
  readonly endpoint: string;
  /** The folder that the kubelet watches for drivers. */
  readonly kubeletRegistration?: string;
  /** Where the kubelet sees the socket of `--endpoint`, if this process runs in a container; the same path by default. */
  readonly kubeletEndpoint?: string;
}

/** The registration of the driver with the kubelet of its node. */
export class KubeletRegistration {
  readonly #flags: KubeletRegistrationFlags;
  readonly #log: Log;
  #server: CsiServer | undefined;
  /** Changes of the registration run one after the other. */
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

  private constructor(flags: KubeletRegistrationFlags, log: Log) {
    this.#flags = flags;
    this.#log = log;
  }

  /** Registers the driver, once its socket answers. Undefined without `--kubelet-registration`. */
  static async start(flags: KubeletRegistrationFlags, log: Log): Promise<KubeletRegistration | undefined> {
    if (flags.kubeletRegistration === undefined) return undefined;
    const registration = new KubeletRegistration(flags, log);
    registration.#server = await registered(flags.kubeletRegistration, flags, log);
    return registration;
  }

  /**
   * The CSINode lists the keys of the node's topology, and the kubelet writes them only when a driver registers. Where the node has got or
   * lost one of the labels, the driver registers again. Other values of the same labels need nothing: consumers read the Node.
   */
  topologyChanged(after: object, before: object | undefined): void {
    const keysOf = (segments: object = {}) => Object.keys(segments).sort().join();
    if (keysOf(after) === keysOf(before)) return;
    this.#work = this.#work.then(() => this.#registerAgain());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
    await this.#server?.stop(0);
  }

  async #registerAgain(): Promise<void> {
    const { kubeletRegistration: folder } = this.#flags;
    if (this.#isStopped || folder === undefined) return;
    this.#log.info('the node has other topology labels; registering with the kubelet again');
    try {
      await this.#server?.stop(0);
      this.#server = await registered(folder, this.#flags, this.#log);
    } catch (error) {
      this.#log.error('the kubelet does not know the topology of the node; restart this process', { error });
    }
  }
}

async function registered(
  folder: string,
  { kubeletEndpoint, endpoint }: KubeletRegistrationFlags,
  log: Log,
): Promise<CsiServer> {
  try {
    return await registerWithKubelet({
      folder,
      driver: drivesDriver,
      endpoint: kubeletEndpoint ?? endpoint,
      clock: realClock,
      log,
    });
  } catch (error) {
    if (error instanceof CsiSocketError) throw new CliError(error.message, 1, { cause: error });
    throw error;
  }
}

/** `servesNode` is whether this process serves the node service, the only one that a kubelet calls. */
export function checkKubeletRegistration(flags: KubeletRegistrationFlags, servesNode: boolean): void {
  const { kubeletRegistration: folder, kubeletEndpoint: endpoint } = flags;
  if (folder === undefined) {
    if (endpoint !== undefined) throw usage('--kubelet-endpoint: needs --kubelet-registration');
    return;
  }
  if (!servesNode) throw usage('--kubelet-registration: needs the node service; add node to --services');
  if (!folder.startsWith('/'))
    throw usage(
      `--kubelet-registration: invalid value ${JSON.stringify(folder)}: it must be an absolute path`,
    );
  if (endpoint === undefined) return;
  try {
    socketPathOf(endpoint, '--kubelet-endpoint');
  } catch (error) {
    if (error instanceof CsiAddressError) throw usage(error.message);
    throw error;
  }
}

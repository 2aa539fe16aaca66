import type { CsiServer } from '../../csi/csi-server.ts';
import { registerWithKubelet } from '../../csi/registration/kubelet-registration.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';

export interface DriverRegistrationOptions {
  /** The directory that the kubelet watches for drivers. */
  readonly directory: string;
  /** The socket of the driver as the kubelet sees it. */
  readonly endpoint: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The registration of the driver with the kubelet of its node. */
export class KubeletRegistration {
  readonly #options: DriverRegistrationOptions;
  #server: CsiServer | undefined;
  /** Changes of the registration run one after the other. */
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

  private constructor(options: DriverRegistrationOptions) {
    this.#options = options;
  }

  /** Registers the driver, whose socket must answer. Rejects with a CsiSocketError if the registration socket cannot be created. */
  static async start(options: DriverRegistrationOptions): Promise<KubeletRegistration> {
    const registration = new KubeletRegistration(options);
    await registration.#register();
    return registration;
  }

  /**
   * The CSINode lists the keys of the node's topology, and the kubelet writes them only when a driver registers. If the node gains or
   * loses one of the labels, the driver registers again. Other values of the same labels need no registration: consumers read the Node.
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

  async #register(): Promise<void> {
    const { directory: folder, ...others } = this.#options;
    this.#server = await registerWithKubelet({ ...others, folder, driver: drivesDriver });
  }

  async #registerAgain(): Promise<void> {
    if (this.#isStopped) return;
    const { log } = this.#options;
    log.info('the node has other topology labels; registering with the kubelet again');
    try {
      await this.#server?.stop(0);
      await this.#register();
    } catch (error) {
      log.error('the kubelet does not know the topology of the node; restart this process', { error });
    }
  }
}

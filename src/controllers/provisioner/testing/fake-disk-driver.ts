import { labels } from '../../../kube/well-known.ts';
import { lookUp } from '../../../kube/wire.ts';
import { onAbort } from '../../../runtime/abort.ts';
import { type Provisioner, refusedOutcome } from '../provisioner.ts';

/** The outcome of the next `create`, after the disk was created. */
export type DriverFault = 'none' | 'hangs' | 'throws' | 'refuses';

/** The disks of a remote driver: they outlive the process that created them. */
export class FakeDiskDriver {
  /** Name and node of each disk. */
  readonly disks = new Map<string, string>();
  fault: DriverFault = 'none';
  /** Resolves when a disk was created and the caller has no answer. */
  readonly hanging: Promise<void>;
  #onHanging = () => {};

  constructor() {
    this.hanging = new Promise((resolve) => {
      this.#onHanging = resolve;
    });
  }

  get provisioner(): Provisioner {
    return {
      name: 'disk.example.com',
      plan: ({ asset, selectedNode }) => {
        const host = lookUp(selectedNode?.metadata?.labels, labels.hostname) ?? 'any';
        const matchExpressions = [{ key: labels.hostname, operator: 'In' as const, values: [host] }];
        const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
        const csi = { driver: 'disk.example.com', volumeHandle: asset.name };
        return { kind: 'planned', plan: { asset, nodeAffinity, source: { csi } } };
      },
      create: async (plan, signal) => {
        if (this.fault === 'refuses') return refusedOutcome('out of disks');
        const [term] = plan.nodeAffinity?.required?.nodeSelectorTerms ?? [];
        const host = term?.matchExpressions?.[0]?.values?.[0] ?? '';
        // As with any driver, creating it again elsewhere returns the existing one.
        if (!this.disks.has(plan.asset.name)) this.disks.set(plan.asset.name, host);
        if (this.fault === 'throws') throw new Error('connection reset');
        if (this.fault === 'hangs') await this.#hang(signal);
        return { kind: 'created', volume: plan };
      },
      delete: async ({ name }) => {
        this.disks.delete(name);
      },
    };
  }

  async #hang(signal: AbortSignal): Promise<never> {
    this.#onHanging();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      onAbort(signal, resolve);
    });
    throw signal.reason;
  }
}

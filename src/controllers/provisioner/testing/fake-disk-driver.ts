import { labels } from '../../../kube/well-known.ts';
import { lookUp } from '../../../kube/wire.ts';
import { onAbort } from '../../../runtime/abort.ts';
import { type Provisioner, refusedOutcome } from '../provisioner.ts';

/** What comes of the next `make`, after the disk is there. */
export type DriverFault = 'none' | 'hangs' | 'throws' | 'refuses';

/** Disks as a driver far away keeps them: they outlive whoever made them. */
export class FakeDiskDriver {
  /** Name and node of each there is. */
  readonly disks = new Map<string, string>();
  fault: DriverFault = 'none';
  /** Resolves when a disk was made and nobody was told. */
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
      make: async (plan, signal) => {
        if (this.fault === 'refuses') return refusedOutcome('out of disks');
        const [term] = plan.nodeAffinity.required?.nodeSelectorTerms ?? [];
        const host = term?.matchExpressions?.[0]?.values?.[0] ?? '';
        // As with any driver, making it again elsewhere gives the one that is there.
        if (!this.disks.has(plan.asset.name)) this.disks.set(plan.asset.name, host);
        if (this.fault === 'throws') throw new Error('the line is dead');
        if (this.fault === 'hangs') await this.#hang(signal);
        return { kind: 'made', plan };
      },
      remove: async ({ name }) => {
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

import { labels } from '../../../kube/well-known.ts';
import { lookUp } from '../../../kube/wire.ts';
import { onAbort } from '../../../runtime/abort.ts';
import { type Provisioner, refused } from '../provisioner.ts';

/** What comes of the next `make`, after the disk is there. */
export type Mishap = 'none' | 'hangs' | 'throws' | 'refuses';

/** Disks as a driver far away keeps them: they outlive whoever made them. */
export class Disks {
  /** Name and node of each there is. */
  readonly there = new Map<string, string>();
  mishap: Mishap = 'none';
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
        if (this.mishap === 'refuses') return refused('out of disks');
        const [term] = plan.nodeAffinity.required?.nodeSelectorTerms ?? [];
        const host = term?.matchExpressions?.[0]?.values?.[0] ?? '';
        // As with any driver, making it again elsewhere gives the one that is there.
        if (!this.there.has(plan.asset.name)) this.there.set(plan.asset.name, host);
        if (this.mishap === 'throws') throw new Error('the line is dead');
        if (this.mishap === 'hangs') await this.#hang(signal);
        return { kind: 'made', plan };
      },
      remove: async ({ name }) => {
        this.there.delete(name);
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

import type { Registry } from '../../../apiserver/registry/registry.ts';
import { EmbeddedCluster } from '../../../cluster/embedded-cluster.ts';
import type { Provisioner } from '../../../controllers/provisioner/provisioner.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import { realClock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { untilDemoSettled } from './demo-state.ts';
import { demoContents, loadDemo } from './load-demo.ts';
import type { OwnNames } from './own-names.ts';
import { PoolDriver } from './pool-driver.ts';

/** Placing the pods takes a second or two; on a busy machine, the start does not wait longer than this. */
const settleMaxMs = 120_000;

/** `--demo`: a small zoned cluster (`examples/demo`) with pods that run and pods that cannot. */
export class Demo {
  readonly #driver = new PoolDriver();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The controllers that the demo needs in addition. */
  get controllers(): readonly Controller[] {
    return [this.#driver.controller];
  }

  get provisioners(): readonly Provisioner[] {
    return [this.#driver.provisioner];
  }

  /** Creates missing objects and waits until every pod is placed or unschedulable. */
  async load(registry: Registry, signal: AbortSignal): Promise<void> {
    const cluster = new EmbeddedCluster({ registry, manager: 'stowage-demo' });
    this.#log.info(`loading the demo: ${demoContents()}`);
    const resourceOf = (apiVersion: string, kind: string) => registry.kinds.byKind(apiVersion, kind);
    const { made, found } = await loadDemo({ cluster, resourceOf });
    this.#log.info(`created ${made} objects, ${found} existed; waiting for the pods`);
    const { running, waiting, isSettled } = await untilDemoSettled(cluster, realClock, settleMaxMs, signal);
    const rest = isSettled ? '' : '; not all of them are settled yet';
    this.#log.info(`${running} pods run, ${waiting} fit nowhere and say why${rest}`);
  }
}

/** Hints for the user. `program` is the command that runs this program. */
export function whatToTry({ program, startOver }: OwnNames): string {
  return `
That line makes kubectl talk to it, in any terminal. Then try:

  kubectl get pods -n demo -o wide
  kubectl describe pod -n demo too-big
  ${program} explain pod demo/too-big

Ctrl-C stops it; the next start goes on where this one was, or from the beginning with ${startOver}.
`;
}

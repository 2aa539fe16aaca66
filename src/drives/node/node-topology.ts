import { isDeepStrictEqual } from 'node:util';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Node } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import { nodes } from '../../kube/resources.ts';
import { driveTopology } from '../../kube/stowage/drive.ts';
import { Informer } from '../../reconcile/informer/informer.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import { apiFailure } from '../controller/api-failure.ts';

export interface NodeTopologyOptions {
  readonly cluster: Cluster;
  readonly nodeName: string;
  /** Labels that are segments beside the well-known ones. */
  readonly topologyKeys?: readonly string[] | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly supervisor: Supervisor;
  readonly log: Log;
}

type Segments = Readonly<Record<string, string>>;

/**
 * The topology segments of the drives of this node, from the labels of its Node. Labels may change at any time: `read` asks the API server,
 * and a watch reports changes. A service that may not read Nodes reports the segment of the node alone, and leaves that of drives as it is.
 */
export class NodeTopology {
  readonly #options: NodeTopologyOptions;
  readonly #listeners = new Set<(after: Segments, before: Segments | undefined) => void>();
  #segments: Segments | undefined;
  #isForbidden = false;

  constructor(options: NodeTopologyOptions) {
    this.#options = options;
  }

  /** As last seen; undefined while the Node is not known. */
  get segments(): Segments | undefined {
    return this.#segments;
  }

  /** `listener` is called after each change of the segments. */
  onChange(listener: (after: Segments, before: Segments | undefined) => void): void {
    this.#listeners.add(listener);
  }

  /** Reads the Node once, and follows it from then on. An API server that does not answer delays nothing: the watch retries. */
  async start(): Promise<void> {
    const { log, nodeName } = this.#options;
    try {
      await this.read();
    } catch (error) {
      log.warn(`the labels of node ${nodeName} are not known yet`, { error });
    }
    if (!this.#isForbidden) this.#follow();
  }

  /** From the API server, for NodeGetInfo. Rejects with `CsiStatusError` if it does not answer. */
  async read(): Promise<Segments> {
    const { cluster, nodeName } = this.#options;
    try {
      this.#learn(await cluster.resource(nodes).get({ name: nodeName }));
    } catch (error) {
      if (isReason(error, 'Forbidden')) this.#reportForbidden(error);
      else if (!isReason(error, 'NotFound')) throw apiFailure(error);
    }
    return this.#segments ?? driveTopology(nodeName, undefined, []);
  }

  #reportForbidden(error: unknown): void {
    if (this.#isForbidden) return;
    this.#isForbidden = true;
    const { log, nodeName } = this.#options;
    const remedy = 'permit get, list and watch of nodes, and restart this process';
    log.warn(`zone and region of node ${nodeName} are not reported: ${remedy}`, { error });
  }

  #follow(): void {
    const { nodeName, supervisor, log, ...rest } = this.#options;
    const informer = new Informer<Node>({
      ...rest,
      resource: nodes,
      selection: { fieldSelector: `metadata.name=${nodeName}` },
      purpose: `the node ${nodeName}`,
      onError: (error) => log.warn(`node ${nodeName}`, { error }),
    });
    informer.addHandler({ added: (node) => this.#learn(node), updated: (node) => this.#learn(node) });
    informer.start(supervisor);
  }

  #learn({ metadata }: Pick<Node, 'metadata'>): void {
    const { nodeName, topologyKeys = [] } = this.#options;
    const before = this.#segments;
    const after = driveTopology(nodeName, metadata?.labels, topologyKeys);
    if (isDeepStrictEqual(after, before)) return;
    this.#segments = after;
    for (const listener of this.#listeners) listener(after, before);
  }
}

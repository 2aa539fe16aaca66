import {
  type Provisioner,
  type ProvisionRequest,
  refusedOutcome,
  type VolumeCreateOutcome,
  type VolumePlan,
} from '../../../controllers/provisioner/provisioner.ts';
import type { Node, PersistentVolume } from '../../../kube/api/core.ts';
import type { CSIStorageCapacity } from '../../../kube/api/storage.ts';
import { isReason } from '../../../kube/api-error.ts';
import { bytesOf, quantityOfBytes } from '../../../kube/quantities/bytes.ts';
import { parseQuantity } from '../../../kube/quantities/quantity.ts';
import { csiStorageCapacities, nodes, persistentVolumes } from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import type { Controller, ControllerContext } from '../../../reconcile/controller.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';
import { Pools } from './pools.ts';

const driver = 'pools.demo.stowage.dev';
const storageClassName = 'pools';
const namespace = 'kube-system';
/** The prefix of the published objects; the name of the node follows. */
const prefix = 'demo-pools-';
/**
 * Figures are published with a delay, as by real drivers. A scheduler keeps a promise until it sees a figure that is newer than the binding,
 * so an earlier figure would have no effect.
 */
const lateMs = 1_000;

/**
 * A simulated storage driver: nodes with the annotation `demo.stowage.dev/pool` have capacity, volumes use it, and the rest is published as
 * CSIStorageCapacity. The demo uses it to show a scheduler that counts bytes.
 */
export class PoolDriver {
  readonly #pools = new Pools();
  /** No volume may be created before the existing volumes are known. */
  readonly #isKnown: Promise<void>;
  #onKnown = () => {};

  constructor() {
    this.#isKnown = new Promise((resolve) => {
      this.#onKnown = resolve;
    });
  }

  /** The provisioner for the provisioner controller. */
  get provisioner(): Provisioner {
    return {
      name: driver,
      plan: (request) => planOn(request),
      create: (plan) => this.#make(plan),
      delete: async ({ name }) => this.#pools.give(name),
    };
  }

  /** Publishes the free capacity. */
  get controller(): Controller {
    return { name: 'demo-pools', run: (context, signal) => this.#publish(context, signal) };
  }

  async #make(plan: VolumePlan): Promise<VolumeCreateOutcome> {
    await this.#isKnown;
    const { node = '', size = '0' } = plan.source.csi?.volumeAttributes ?? {};
    if (this.#pools.take(plan.asset.name, node, bytesOf(size))) return { kind: 'created', volume: plan };
    return refusedOutcome(
      `the pool of ${node} has ${quantityOfBytes(this.#pools.leftBytes(node))} left, and ${size} are asked for`,
    );
  }

  async #publish(context: ControllerContext, signal: AbortSignal): Promise<void> {
    const caches = {
      nodes: context.informers.of(nodes),
      volumes: context.informers.of(persistentVolumes),
      published: context.informers.of(csiStorageCapacities),
    };
    const queue = new WorkQueue(context);
    const loop = {
      controller: this.controller.name,
      caches: Object.values(caches),
      listen: () => this.#listen(caches, queue),
      queue,
      reconcile: (node: string) => this.#say(node, { context, caches, signal }),
      workers: 1,
    };
    await runLoop(context, loop, signal);
  }

  #listen({ nodes, volumes, published }: Caches, queue: WorkQueue): readonly (() => void)[] {
    const node = (object: Node) => this.#pools.size(nameOf(object), poolBytes(object));
    const volume = (object: PersistentVolume) => {
      const { csi, capacity } = object.spec ?? {};
      const on = csi?.volumeAttributes?.node;
      if (csi?.driver !== driver || on === undefined) return;
      this.#pools.record(nameOf(object), on, bytesOf(capacity?.storage));
    };
    const onPublished = ({ metadata }: CSIStorageCapacity) => {
      const name = metadata?.name ?? '';
      if (metadata?.namespace === namespace && name.startsWith(prefix)) queue.add(name.slice(prefix.length));
    };
    const ends = [
      this.#pools.onChange((name) => {
        const isNew = published.get(`${namespace}/${prefix}${name}`) === undefined;
        if (isNew) queue.add(name);
        else queue.addAfter(name, lateMs);
      }),
      nodes.addHandler({
        added: node,
        updated: node,
        deleted: (object) => this.#pools.size(nameOf(object), undefined),
      }),
      volumes.addHandler({
        added: volume,
        updated: volume,
        deleted: (object) => this.#pools.give(nameOf(object)),
      }),
      published.addHandler({ added: onPublished, updated: onPublished, deleted: onPublished }),
    ];
    this.#onKnown();
    return ends;
  }

  /** Brings one node's CSIStorageCapacity in line with its pool. */
  async #say(nodeName: string, { context, caches, signal }: Saying): Promise<undefined> {
    const name = `${prefix}${nodeName}`;
    const client = context.cluster.resource(csiStorageCapacities);
    const there = caches.published.get(`${namespace}/${name}`);
    const node = caches.nodes.get(nodeName);
    const capacity = quantityOfBytes(this.#pools.leftBytes(nodeName));
    if (node === undefined || poolBytes(node) === undefined) {
      if (there !== undefined) await unless('NotFound', client.delete({ namespace, name }, { signal }));
    } else if (there === undefined) {
      const fresh = { ...placeOf(node), storageClassName, capacity };
      await unless('AlreadyExists', client.create(fresh, { signal }));
    } else if (String(there.capacity) !== capacity) {
      await client.patch({ namespace, name }, { type: 'merge', body: { capacity } }, { signal });
    }
  }
}

interface Saying {
  readonly context: ControllerContext;
  readonly caches: Caches;
  readonly signal: AbortSignal;
}

interface Caches {
  readonly nodes: Informer<Node>;
  readonly volumes: Informer<PersistentVolume>;
  readonly published: Informer<CSIStorageCapacity>;
}

/** The affinity of a disk that only one node can reach. */
function planOn({ asset, claim, selectedNode }: ProvisionRequest) {
  const node = selectedNode?.metadata?.name;
  if (node === undefined)
    return refusedOutcome(`${driver} needs a class with volumeBindingMode WaitForFirstConsumer`);
  const hostname = selectedNode?.metadata?.labels?.[labels.hostname] ?? node;
  const matchExpressions = [{ key: labels.hostname, operator: 'In' as const, values: [hostname] }];
  const size = String(claim.spec?.resources?.requests?.storage ?? '0');
  const csi = { driver, volumeHandle: asset.name, volumeAttributes: { node, size } };
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  return { kind: 'planned' as const, plan: { asset, nodeAffinity, source: { csi } } };
}

/** The node that an object describes; the object is deleted with the node. */
function placeOf(node: Node) {
  const name = nameOf(node);
  const owner = { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata?.uid ?? '' };
  return {
    metadata: { namespace, name: `${prefix}${name}`, ownerReferences: [owner] },
    nodeTopology: { matchLabels: { [labels.hostname]: node.metadata?.labels?.[labels.hostname] ?? name } },
  };
}

/** Another writer was faster, or the cache is stale: the next event triggers another attempt. */
async function unless(reason: 'NotFound' | 'AlreadyExists', write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isReason(error, reason)) throw error;
  }
}

/** Undefined if the node has no pool, or an invalid size. */
function poolBytes({ metadata }: Node): bigint | undefined {
  const said = metadata?.annotations?.[annotations.demoPool];
  return said !== undefined && parseQuantity(said).ok ? bytesOf(said) : undefined;
}

function nameOf({ metadata }: Node | PersistentVolume): string {
  return metadata?.name ?? '';
}

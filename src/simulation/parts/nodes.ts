import { isRefusal } from '../../kube/api-error.ts';
import { csiNodes, nodes } from '../../kube/resources.ts';
import type { Clock } from '../../runtime/clock.ts';
import { csiNodeOf, nodeNames, nodeOf } from '../base-cluster.ts';
import type { SimulationPart } from '../part.ts';

const retryMs = 1_000;
const never = new AbortController().signal;

/** Nodes that are cordoned, lost, and return under the same name. */
export const nodesPart: SimulationPart = {
  name: 'nodes',
  actions: [
    {
      name: 'cordon',
      weight: 2,
      draw: (random) => ({ node: random.pick(nodeNames), unschedulable: random.int(2) === 0 }),
      run: async ({ cluster }, { node, unschedulable }) => {
        const body = { spec: { unschedulable } };
        await cluster.resource(nodes).patch({ name: String(node) }, { type: 'merge', body });
      },
    },
    {
      name: 'delete-node',
      weight: 1,
      draw: (random) => ({ node: random.pick(nodeNames) }),
      run: async ({ cluster, clock }, { node }) => {
        await cluster.resource(csiNodes).delete({ name: String(node) });
        await untilStored(clock, () => cluster.resource(nodes).delete({ name: String(node) }));
      },
    },
    {
      name: 'create-node',
      weight: 3,
      draw: (random) => ({ node: random.pick(nodeNames) }),
      run: async ({ cluster, clock }, { node }) => {
        await cluster.resource(nodes).create(nodeOf(String(node)));
        await untilStored(clock, () => cluster.resource(csiNodes).create(csiNodeOf(String(node))));
      },
    },
  ],
};

/**
 * While the disk is full, it tries again: a node without a CSINode attaches no volume, and has no kubelet here that would create it.
 */
async function untilStored(clock: Clock, write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (isRefusal(error)) throw error;
      await clock.sleep(retryMs, never);
    }
  }
}

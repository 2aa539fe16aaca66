import { csiNodes, nodes } from '../../kube/resources.ts';
import { createNode, nodeNames } from '../base-cluster.ts';
import type { SimulationPart } from '../part.ts';

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
      run: async ({ cluster }, { node }) => {
        await cluster.resource(csiNodes).delete({ name: String(node) });
        await cluster.resource(nodes).delete({ name: String(node) });
      },
    },
    {
      name: 'create-node',
      weight: 3,
      draw: (random) => ({ node: random.pick(nodeNames) }),
      run: async ({ cluster }, { node }) => await createNode(cluster, String(node)),
    },
  ],
};
